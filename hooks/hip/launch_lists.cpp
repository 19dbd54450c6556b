// Hooks of HIP's functions that launch kernels on several devices (devices/launch_lists.h).
#include "devices/launch_lists.h"
#include "core/rows.h"
#include "devices/device.h"
#include "hip/rows.h"

#ifdef MSL_VENDOR_HEADERS
static_assert(sizeof(hipLaunchParams) == sizeof(msleaks::hooks::LaunchOfRuntime));
static_assert(offsetof(hipLaunchParams, stream) == offsetof(msleaks::hooks::LaunchOfRuntime, stream));
#endif

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(device_of, "libamdhip64", "hipGetStreamDeviceId")
MSL_ASKED(look_at_error, "libamdhip64", "hipPeekAtLastError")

// The function returns no status. It may remove an error that the program has not read.
constexpr auto kDevice = [](const void *stream) -> int {
  return callReal<int()>(look_at_error) > 0 ? -1 : callReal<int(const void *)>(device_of, stream);
};
constexpr auto kOfRuntime = kLaunchList<abi::Family::Hip, LaunchOfRuntime, kDevice>;
constexpr auto kOfModule = kLaunchList<abi::Family::Hip, LaunchOfDriver, kDevice>;

} // namespace

#define MSL_PART_LAUNCH_LISTS
#include "msleaks/abi/functions/hip.def"
