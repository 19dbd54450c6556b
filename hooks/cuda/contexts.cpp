// Hooks of the context functions of CUDA's driver. They record contexts as handles, and note which device the thread
// uses. After each call that may change the thread's context, they ask the driver for the device.
#include "devices/contexts.h"
#include "core/rows.h"
#include "counting/module_kernels.h"
#include "cuda/rows.h"
#include "devices/device.h"

using namespace msleaks;

namespace {

MSL_ASKED(current, "libcuda", "cuCtxGetDevice")

// A thread without a context has no device, and cannot allocate.
constexpr auto kDevice = [] {
  int device = 0;
  return hooks::callReal<int(int *)>(current, &device) == 0 ? device : -1;
};
constexpr auto kChanged = hooks::kContextChanged<abi::Family::Cuda, kDevice>;
template <hook::Name kName>
constexpr auto kCounted = [](auto real, void *caller, auto... parameters) {
  const auto status = hook::callRecorded<hook::Known<kName>>(real, caller, parameters...);
  hooks::noteDevice<abi::Family::Cuda, kDevice>();
  return status;
};
constexpr auto kDestroyed = [](auto real, void *caller, CUcontext context) {
  hooks::placeGoes(context);
  return kCounted<"cuCtxDestroy_v2">(real, caller, context);
};

} // namespace

#define MSL_PART_CONTEXTS
#include "msleaks/abi/functions/cuda.def"
