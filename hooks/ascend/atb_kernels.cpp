// Records the memory that ATB's kernels use, if ATB saves their tensors: it then calls SaveLaunchParam for each kernel.
// The hooks do not change whether ATB saves tensors. If it does not, a kernel is only a launch in the range of its
// operator.
#include "ascend/atb_memory.h"
#include "core/own_hook.h"

#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/note.h"

#include <atomic>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

using Param = void;  // Mki::LaunchParam
using Tensor = char; // Mki::Tensor

// Two functions of Mki::LaunchParam, const.
struct TensorsOf {
  hook::Function &count, &at;
  uint64_t countOf(const Param *param) const {
    auto *const real = reinterpret_cast<uint64_t (*)(const Param *)>(hook::realOf(count));
    return real != nullptr && hook::realOf(at) != nullptr ? real(param) : 0;
  }
  const Tensor *tensorOf(const Param *param, uint64_t index) const {
    return reinterpret_cast<const Tensor *(*)(const Param *, uint64_t)>(hook::realOf(at))(param, index);
  }
};
MSL_ASKED(count_in, "libmki", "_ZNK3Mki11LaunchParam16GetInTensorCountEv")
MSL_ASKED(at_in, "libmki", "_ZNK3Mki11LaunchParam11GetInTensorEm")
MSL_ASKED(count_out, "libmki", "_ZNK3Mki11LaunchParam17GetOutTensorCountEv")
MSL_ASKED(at_out, "libmki", "_ZNK3Mki11LaunchParam12GetOutTensorEm")
constexpr TensorsOf in = {count_in, at_in}, out = {count_out, at_out};

// The last fields of Mki::Tensor. The fields before them differ between versions.
struct Memory {
  const void *device;
  uint64_t bytes;
  const void *host;
};

// Returns the size of a tensor; 0: it is not known. It follows from the addresses of two tensors: of neighbours in an
// array, or of the first input and the first output. Each array has room for 49 tensors, and one more word follows it.
uint64_t measured(const Param *param, uint64_t ins, uint64_t outs) {
  constexpr uint64_t kRoom = 49, kLeast = 64, kMost = 4096;
  const auto distance = [](const Tensor *from, const Tensor *to) { return static_cast<uint64_t>(to - from); };
  uint64_t bytes = 0;
  if (ins > 1)
    bytes = distance(in.tensorOf(param, 0), in.tensorOf(param, 1));
  else if (outs > 1)
    bytes = distance(out.tensorOf(param, 0), out.tensorOf(param, 1));
  else if (ins != 0 && outs != 0)
    bytes = (distance(in.tensorOf(param, 0), out.tensorOf(param, 0)) - sizeof(uint64_t)) / kRoom;
  return bytes >= kLeast && bytes <= kMost && bytes % alignof(Memory) == 0 ? bytes : 0;
}

void recordUses(const hook::Call &call, const TensorsOf &tensors, const Param *param, uint64_t tensor_bytes,
                uint32_t flags) {
  const uint64_t count = tensors.countOf(param);
  for (uint64_t index = 0; index < count; ++index) {
    const auto *end = reinterpret_cast<const Memory *>(tensors.tensorOf(param, index) + tensor_bytes);
    atb::recordUse(call, end[-1].device, end[-1].bytes, flags);
  }
}

constinit std::atomic<bool> is_noted{false};

void recordKernel(const void *caller, const Param *param) {
  const runtime::ErrnoKept kept;
  hook::Call call = atb::useOfMemory(caller);
  __msl_hook_enter(&call);
  if (call.answer != hook::kRecord)
    return;
  const uint64_t ins = in.countOf(param), outs = out.countOf(param);
  if (ins + outs == 0)
    return;
  const uint64_t tensor_bytes = measured(param, ins, outs);
  if (tensor_bytes == 0) {
    if (!is_noted.exchange(true, std::memory_order_relaxed))
      __msl_note("ATB's kernels are of an unknown version: their arguments are not recorded");
    return;
  }
  recordUses(call, in, param, tensor_bytes, abi::kRead);
  recordUses(call, out, param, tensor_bytes, abi::kWrite);
}

void save(hook::Function &function, const void *caller, void *stream, const Param *param, const void *folder) {
  if (hook::own_library.state == hook::kAccepted && param != nullptr)
    recordKernel(caller, param);
  using Save = void(void *, const Param *, const void *);
  if (auto *const real = reinterpret_cast<Save *>(hook::realOf(function, caller)))
    real(stream, param, folder);
}

} // namespace

// atb::StoreUtil::SaveLaunchParam(void *, const Mki::LaunchParam &, const std::string &), for both kinds of std::string
// in libstdc++. The hook does not read the string.
#define MSL_SAVE_LAUNCH_PARAM(name)                                                                                    \
  MSL_OWN_HOOK(libatb, void, name, (void *stream, const Param *param, const void *folder)) {                           \
    save(msl_hook_of_##name, __builtin_return_address(0), stream, param, folder);                                      \
  }

MSL_SAVE_LAUNCH_PARAM(_ZN3atb9StoreUtil15SaveLaunchParamEPvRKN3Mki11LaunchParamERKSs)
MSL_SAVE_LAUNCH_PARAM(
    _ZN3atb9StoreUtil15SaveLaunchParamEPvRKN3Mki11LaunchParamERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
