// Hook of clEnqueueSVMFree. It frees a list of blocks, but the effects of a row can name only one. If the program
// passes a callback, the driver frees no block: the callback does, by clSVMFree, which has a hook of its own.
#include "opencl/calls.h"

#include "msleaks/runtime/record.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

constexpr abi::Traits traitsOf(uint16_t flags) {
  return abi::Traits(abi::Verb::Free, abi::Family::OpenCl, abi::Heap::Managed, abi::kFromHook | flags);
}

struct Blocks {
  void *const *list; // entries may be null
  unsigned count;

  template <class F> void forEach(F f) const {
    for (unsigned i = 0; i < count; ++i)
      if (list[i] != nullptr)
        f(list[i]);
  }
  template <class F> void forEachBackwards(F f) const {
    for (unsigned i = count; i > 0; --i)
      if (list[i - 1] != nullptr)
        f(list[i - 1]);
  }
};

// Call this before the real call: as soon as the queue has executed the frees, another thread may get one of the
// addresses.
void recordFrees(const hook::Call &call, const Blocks &blocks) {
  uint16_t flags = 0;
  blocks.forEach([&](void *block) {
    __msl_on_free(call.site, traitsOf(flags).packed(), block, 0);
    flags = abi::kListed;
  });
}

// Records that all blocks are alive again, because the call failed. The callback __msl_on_freed would do so for one
// block only.
void recordRestored(const hook::Call &call, const Blocks &blocks) {
  blocks.forEachBackwards([&](void *block) {
    constexpr uint16_t kFlags = abi::kFromHook | abi::kRestored;
    runtime::record(__msl_thread, abi::AllocEvent{{abi::EventKind::Alloc, traitsOf(0).heap(), 0, kFlags, call.site, 0},
                                                  reinterpret_cast<uint64_t>(block),
                                                  0});
  });
}

constexpr auto kFree = [](auto real, void *caller, Queue queue, unsigned count, void **list, Notify notify, void *user,
                          unsigned waits, Events wait_for, Event *event) {
  using OfHandles = hook::HandlesOnly<hook::Known<"clEnqueueSVMFree">>;
  if (notify != nullptr || list == nullptr)
    return hook::callRecorded<OfHandles>(real, caller, queue, count, list, notify, user, waits, wait_for, event);
  hook::Call call{traitsOf(0).packed(), hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == hook::kPass)
    return real(queue, count, list, notify, user, waits, wait_for, event);
  const Blocks blocks{list, count};
  recordFrees(call, blocks);
  __msl_hook_begin(&call);
  const int status = real(queue, count, list, notify, user, waits, wait_for, event);
  __msl_hook_end(&call);
  if (status != 0)
    recordRestored(call, blocks);
  const hook::Arguments values(queue, count, list, notify, user, waits, wait_for, event);
  hook::Handles<OfHandles, decltype(values)>::after(call, values, status);
  return status;
};

} // namespace

#define MSL_PART_SVM
#include "msleaks/abi/functions/opencl.def"
