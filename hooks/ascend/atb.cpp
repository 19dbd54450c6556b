// Hooks of ATB, Ascend's library of operators for transformers. Each execution of an operator is recorded as a range
// with the operator's name. After the range's beginning, events list the memory that the operator uses: its tensors and
// its workspace. The launches of the operator use no other memory (Thread::told_frame).
//
// ATB may be built for either kind of std::string in libstdc++: the old one, which shares its text, or the new one.
#include "ascend/atb_memory.h"
#include "core/own_hook.h"

#include "msleaks/api.h"
#include "msleaks/runtime/caller.h"
#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/note.h"
#include "msleaks/runtime/page.h"
#include "msleaks/runtime/path.h"
#include "msleaks/runtime/sandbox.h"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

using Status = int32_t;
using Runner = void;

// Either kind of std::string in libstdc++. In both, the first member is a pointer to a text that ends with 0.
class Text {
public:
  Text(const Text &) = delete;
  Text &operator=(const Text &) = delete;
  ~Text();
  const char *begin() const { return begin_; }

private:
  const char *begin_;
  [[maybe_unused]] uint64_t more_[3];
};

// atb::Runner::GetOperationName() const, and the destructor of what it returns.
struct NameOf {
  hook::Function *get, *destroy;
};
MSL_ASKED(get_new, "libatb", "_ZNK3atb6Runner16GetOperationNameB5cxx11Ev")
MSL_ASKED(destroy_new, "libstdc++", "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev")
MSL_ASKED(get_old, "libatb", "_ZNK3atb6Runner16GetOperationNameEv")
MSL_ASKED(destroy_old, "libstdc++", "_ZNSsD1Ev")
constexpr NameOf of_either[] = {{&get_new, &destroy_new}, {&get_old, &destroy_old}};
constexpr NameOf of_none{};
constinit std::atomic<const NameOf *> known_names{nullptr};

// Returns the functions of the ATB in this process; null: it has none.
const NameOf *findNames() {
  const NameOf *known = known_names.load(std::memory_order_acquire);
  if (known == nullptr) {
    known = &of_none;
    for (const NameOf &names : of_either)
      if (hook::realOf(*names.get) != nullptr && hook::realOf(*names.destroy) != nullptr)
        known = &names;
    known_names.store(known, std::memory_order_release);
  }
  return known != &of_none ? known : nullptr;
}

// The string uses the program's heap, but the program has not asked for it. So its memory is not recorded.
Text askName(const NameOf &names, const Runner *runner) {
  const runtime::Inside inside(__msl_thread);
  return reinterpret_cast<Text (*)(const Runner *)>(hook::realOf(*names.get))(runner);
}
Text::~Text() {
  const runtime::Inside inside(__msl_thread);
  reinterpret_cast<void (*)(Text *)>(hook::realOf(*findNames()->destroy))(this);
}

void beginRange(const Runner *runner) {
  constexpr const char *kUnnamed = "ATB";
  const NameOf *const names = findNames();
  if (names == nullptr)
    return msl_range_push(kUnnamed);
  const runtime::ErrnoKept kept;
  const Text name = askName(*names, runner);
  msl_range_push(name.begin() != nullptr && *name.begin() != 0 ? name.begin() : kUnnamed);
}

enum class Layout : uint8_t { NotChecked, Known, Strange };
constinit std::atomic<Layout> layout{Layout::NotChecked};

bool isMapped(const atb::Pack *pack) {
  const runtime::ErrnoKept kept;
  const uint64_t page = runtime::pageBytes(), begin = reinterpret_cast<uint64_t>(pack) & ~(page - 1);
  unsigned char resident[sizeof(atb::Pack) / abi::kMinPageBytes + 2];
  const uint64_t bytes = reinterpret_cast<uint64_t>(pack + 1) - begin;
  return !runtime::isSandboxed() && ::syscall(SYS_mincore, begin, bytes, resident) == 0;
}

bool makeSense(const atb::List<atb::Tensor> &tensors) {
  if (!tensors.makesSense())
    return false;
  for (const atb::Tensor &tensor : tensors)
    if (!tensor.makesSense())
      return false;
  return true;
}

// In another version of ATB, even the size of the struct may differ. So the first time, this function checks that the
// whole struct is mapped.
bool isReadable(const atb::Pack *pack) {
  const Layout known = layout.load(std::memory_order_relaxed);
  if (known == Layout::Strange || pack == nullptr)
    return false;
  if ((known == Layout::Known || isMapped(pack)) && makeSense(pack->in) && makeSense(pack->out)) {
    layout.store(Layout::Known, std::memory_order_relaxed);
    return true;
  }
  if (layout.exchange(Layout::Strange, std::memory_order_relaxed) != Layout::Strange)
    __msl_note("ATB's operators are of an unknown version: their arguments are not recorded");
  return false;
}

// Records all memory that the operator uses. False: nothing was recorded.
bool tellMemory(const hook::Call &call, const atb::Pack *pack) {
  constexpr uint32_t kBoth = abi::kRead | abi::kWrite;
  if (!isReadable(pack))
    return false;
  for (const atb::Tensor &tensor : pack->in)
    atb::recordUse(call, tensor.device, tensor.bytes, abi::kRead);
  for (const atb::Tensor &tensor : pack->out)
    atb::recordUse(call, tensor.device, tensor.bytes, abi::kWrite);
  atb::recordUse(call, pack->tiling, pack->tiling_bytes, abi::kRead);
  atb::recordUse(call, pack->workspace, pack->workspace_bytes, kBoth);
  atb::recordUse(call, pack->intermediate, pack->intermediate_bytes, kBoth);
  return true;
}

// Returns the name that safetensors has for a type of ACL; null: it has none.
const char *nameOfType(int32_t type) {
  constexpr const char *kNames[] = {"F32", "F16", "I8",  "I32", nullptr, nullptr, "I16",
                                    "U16", "U32", "I64", "U64", "F64",   "BOOL"};
  constexpr int32_t kUint8 = 4, kBfloat16 = 27;
  if (type == kUint8 || type == kBfloat16)
    return type == kUint8 ? "U8" : "BF16";
  return type >= 0 && type < static_cast<int32_t>(sizeof kNames / sizeof *kNames) ? kNames[type] : nullptr;
}

void tellOutputs(const atb::Pack *pack) {
  uint32_t number = 0;
  for (const atb::Tensor &tensor : pack->out) {
    const hook::Output output{sizeof output,           number++,          tensor.device, tensor.bytes,
                              nameOfType(tensor.type), tensor.dimensions, tensor.extents};
    __msl_hook_output(&output);
  }
}

// While this object exists, it is known that launches from inner frames use only the memory that was recorded. `frame`
// 0: this is not known.
class ToldFrame {
public:
  explicit ToldFrame(uint64_t frame) : before_(__msl_thread.told_frame) { __msl_thread.told_frame = frame; }
  ~ToldFrame() { __msl_thread.told_frame = before_; }
  ToldFrame(const ToldFrame &) = delete;
  ToldFrame &operator=(const ToldFrame &) = delete;

private:
  uint64_t before_;
};

} // namespace

// atb::Runner::Execute(atb::RunnerVariantPack &)
MSL_OWN_HOOK(libatb, Status, _ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE,
             (const Runner *runner, const atb::Pack *pack)) {
  hook::Function &function = msl_hook_of__ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE;
  auto *const real = reinterpret_cast<Status (*)(const Runner *, const atb::Pack *)>(
      hook::realOf(function, __builtin_return_address(0)));
  if (real == nullptr)
    return hook::missing<hook::NoRow, Status>(function, runner, pack);
  if (hook::own_library.state != hook::kAccepted)
    return real(runner, pack);
  hook::Call call = atb::useOfMemory(__builtin_return_address(0));
  __msl_hook_enter(&call);
  if (call.answer != hook::kRecord)
    return real(runner, pack);
  beginRange(runner);
  const bool is_told = tellMemory(call, pack);
  Status status;
  {
    const ToldFrame told(is_told ? runtime::callerStackPointer() : 0);
    status = real(runner, pack);
  }
  if (status == 0 && is_told)
    tellOutputs(pack);
  msl_range_pop();
  return status;
}
