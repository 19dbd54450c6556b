// clEnqueueSVMFree frees a list of blocks, and a row can name only one. Where the program passes a callback, the driver
// frees none of them: the callback does, by clSVMFree, which has its own hook.
#include "msleaks/hook.h"
#include "msleaks/runtime/record.h"

#include <cstddef>

using namespace msleaks;

using Queue = void *;
using Event = void *;
using Events = const void *;
using Notify = void *;

namespace {

constexpr abi::Traits traitsOf(uint16_t flags) {
  return abi::Traits(abi::Verb::Free, abi::Family::OpenCl, abi::Heap::Managed, abi::kFromHook | flags);
}

struct Blocks {
  void *const *list; // may hold null
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

// Before the call: as soon as the queue gets there, another thread may be given one of these addresses.
void recordFrees(const hook::Call &call, const Blocks &blocks) {
  uint16_t flags = 0;
  blocks.forEach([&](void *block) {
    __msl_on_free(call.site, traitsOf(flags).packed(), block, 0);
    flags = abi::kListed;
  });
}

// The call was refused: none of them was given back. The callback would tell it of one block only (__msl_on_freed).
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

MSL_HOOK_WITH(kFree, libOpenCL, int, clEnqueueSVMFree,
              (Queue, unsigned, void **, Notify, void *, unsigned, Events, Event *))
