// Hooks of HIP's functions that choose a context, and so the device of the thread (devices/contexts.h).
#include "devices/contexts.h"
#include "hip/ask.h"
#include "hip/types.h"

using namespace msleaks;

namespace {

MSL_ASKED(current, "libamdhip64", "hipGetDevice")

constexpr auto kDevice = [] {
  int device = 0;
  return hooks::hip::ask<int(int *)>(current, &device) == 0 ? device : -1;
};
constexpr auto kChanged = hooks::kContextChanged<abi::Family::Hip, kDevice>;

} // namespace

MSL_HOOK_WITH(kChanged, libamdhip64, hipError_t, hipCtxSetCurrent, (hipCtx_t))
MSL_HOOK_WITH(kChanged, libamdhip64, hipError_t, hipCtxPushCurrent, (hipCtx_t))
MSL_HOOK_WITH(kChanged, libamdhip64, hipError_t, hipCtxPopCurrent, (hipCtx_t *))
