// What of HIP a row alone cannot say (device_memory.h).
#include "device_memory.h"

#ifdef MSL_VENDOR_HEADERS
#include <hip/hip_runtime_api.h>
#else
using hipError_t = int;
using hipStream_t = void *;
using hipGraphExec_t = void *;
using hipArray_t = void *;
using hipMemcpyKind = int;
using hipMemGenericAllocationHandle_t = void *;
struct hipChannelFormatDesc {
  int x, y, z, w, f;
};
struct hipExtent {
  size_t width, height, depth;
};
struct hipPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct hipMemLocation {
  int type, id;
};
struct hipMemAllocationProp {
  int type, requestedHandleType;
  hipMemLocation location;
};
#endif

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
using Freed = Give<kHip>;
using Launched = Launch<kHip>;
} // namespace

MSL_HOOK_WITH(kPhysical<kHip>, libamdhip64, hipError_t, hipMemCreate,
              (hipMemGenericAllocationHandle_t *, size_t, const hipMemAllocationProp *, unsigned long long))
MSL_HOOK_AS(Freed, libamdhip64, hipError_t, hipMemRelease, (hipMemGenericAllocationHandle_t))

MSL_HOOK_WITH(kArray<kHip>, libamdhip64, hipError_t, hipMallocArray,
              (hipArray_t *, const hipChannelFormatDesc *, size_t, size_t, unsigned))
MSL_HOOK_WITH(kArray3D<kHip>, libamdhip64, hipError_t, hipMalloc3DArray,
              (hipArray_t *, const hipChannelFormatDesc *, hipExtent, unsigned))
MSL_HOOK_AS(Freed, libamdhip64, hipError_t, hipFreeArray, (hipArray_t))
MSL_HOOK_WITH(kPitched3D<kHip>, libamdhip64, hipError_t, hipMalloc3D, (hipPitchedPtr *, hipExtent))

MSL_HOOK_WITH(kCopy2D<kHip>, libamdhip64, hipError_t, hipMemcpy2D,
              (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_WITH(kCopy2DAsync<kHip>, libamdhip64, hipError_t, hipMemcpy2DAsync,
              (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind, hipStream_t))

MSL_HOOK_AS(Launched, libamdhip64, hipError_t, hipGraphLaunch, (hipGraphExec_t, hipStream_t))
MSL_HOOK_AS(Launched, libamdhip64, hipError_t, hipGraphLaunch_spt, (hipGraphExec_t, hipStream_t))
