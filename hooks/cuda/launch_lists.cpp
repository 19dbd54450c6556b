// Hooks of CUDA's functions that launch kernels on several devices (devices/launch_lists.h).
#include "devices/launch_lists.h"
#include "core/rows.h"
#include "cuda/rows.h"
#include "devices/device.h"

#ifdef MSL_VENDOR_HEADERS
#if CUDART_VERSION < 13000
static_assert(sizeof(cudaLaunchParams) == sizeof(msleaks::hooks::LaunchOfRuntime));
static_assert(offsetof(cudaLaunchParams, stream) == offsetof(msleaks::hooks::LaunchOfRuntime, stream));
#endif
static_assert(sizeof(CUDA_LAUNCH_PARAMS) == sizeof(msleaks::hooks::LaunchOfDriver));
static_assert(offsetof(CUDA_LAUNCH_PARAMS, hStream) == offsetof(msleaks::hooks::LaunchOfDriver, stream));
#endif

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

MSL_ASKED(device_of, "libcuda", "cuStreamGetDevice")

// Since version 12.8.
constexpr auto kDevice = [](const void *stream) {
  int device = -1;
  return callReal<int(const void *, int *)>(device_of, stream, &device) == 0 ? device : -1;
};
constexpr auto kOfRuntime = kLaunchList<abi::Family::Cuda, LaunchOfRuntime, kDevice>;
constexpr auto kOfDriver = kLaunchList<abi::Family::Cuda, LaunchOfDriver, kDevice>;

} // namespace

#define MSL_PART_LAUNCH_LISTS
#include "msleaks/abi/functions/cuda.def"
