// Hooks of HIP's functions that choose a context, and so the device of the thread (devices/contexts.h).
#include "devices/contexts.h"
#include "devices/device.h"
#include "hip/types.h"

using namespace msleaks;

namespace {

MSL_ASKED(current, "libamdhip64", "hipGetDevice")
MSL_ASKED(look_at_error, "libamdhip64", "hipPeekAtLastError")
MSL_ASKED(take_error, "libamdhip64", "hipGetLastError")

constexpr auto kDevice = [] {
  int device = 0;
  const int32_t status = hooks::leavingLastError({look_at_error, take_error},
                                                 [&] { return hooks::callReal<int(int *)>(current, &device); });
  return status == 0 ? device : -1;
};
constexpr auto kChanged = hooks::kContextChanged<abi::Family::Hip, kDevice>;

} // namespace

MSL_HOOK_WITH(kChanged, libamdhip64, hipError_t, hipCtxSetCurrent, (hipCtx_t))
MSL_HOOK_WITH(kChanged, libamdhip64, hipError_t, hipCtxPushCurrent, (hipCtx_t))
MSL_HOOK_WITH(kChanged, libamdhip64, hipError_t, hipCtxPopCurrent, (hipCtx_t *))
