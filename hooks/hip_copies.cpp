// Copies and fills of HIP that a row alone cannot say (device_copies.h). The names with _spt are what a program calls
// that was built with a default stream for each thread.
#include "device_copies.h"

#ifdef MSL_VENDOR_HEADERS
#include <hip/hip_runtime_api.h>
#else
using hipError_t = int;
using hipStream_t = void *;
using hipArray_t = void *;
using hipMemcpyKind = int;
using hipDeviceptr_t = void *;
struct hipChannelFormatDesc {
  int x, y, z, w, f;
};
struct hipExtent {
  size_t width, height, depth;
};
struct hipPos {
  size_t x, y, z;
};
struct hipPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
};
#endif

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
MSL_ASKED(array_information, "libamdhip64", "hipArrayGetInfo")
constexpr auto kCopyParms = kCopy3D<kHip, array_information, hipChannelFormatDesc>;
} // namespace

MSL_HOOK_WITH(kCopy2D<kHip>, libamdhip64, hipError_t, hipMemcpy2D,
              (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_WITH(kCopy2D<kHip>, libamdhip64, hipError_t, hipMemcpy2D_spt,
              (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_WITH(kCopy2D<kHip>, libamdhip64, hipError_t, hipMemcpy2DAsync,
              (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_WITH(kCopy2D<kHip>, libamdhip64, hipError_t, hipMemcpy2DAsync_spt,
              (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_WITH(kCopyParms, libamdhip64, hipError_t, hipMemcpy3D, (const hipMemcpy3DParms *))
MSL_HOOK_WITH(kCopyParms, libamdhip64, hipError_t, hipMemcpy3D_spt, (const hipMemcpy3DParms *))
MSL_HOOK_WITH(kCopyParms, libamdhip64, hipError_t, hipMemcpy3DAsync, (const hipMemcpy3DParms *, hipStream_t))
MSL_HOOK_WITH(kCopyParms, libamdhip64, hipError_t, hipMemcpy3DAsync_spt, (const hipMemcpy3DParms *, hipStream_t))
MSL_HOOK_WITH(kFill2D<kHip>, libamdhip64, hipError_t, hipMemset2D, (void *, size_t, int, size_t, size_t))
MSL_HOOK_WITH(kFill2D<kHip>, libamdhip64, hipError_t, hipMemset2D_spt, (void *, size_t, int, size_t, size_t))
MSL_HOOK_WITH(kFill2D<kHip>, libamdhip64, hipError_t, hipMemset2DAsync,
              (void *, size_t, int, size_t, size_t, hipStream_t))
MSL_HOOK_WITH(kFill2D<kHip>, libamdhip64, hipError_t, hipMemset2DAsync_spt,
              (void *, size_t, int, size_t, size_t, hipStream_t))
MSL_HOOK_WITH(kFill3D<kHip>, libamdhip64, hipError_t, hipMemset3D, (hipPitchedPtr, int, hipExtent))
MSL_HOOK_WITH(kFill3D<kHip>, libamdhip64, hipError_t, hipMemset3D_spt, (hipPitchedPtr, int, hipExtent))
MSL_HOOK_WITH(kFill3D<kHip>, libamdhip64, hipError_t, hipMemset3DAsync, (hipPitchedPtr, int, hipExtent, hipStream_t))
MSL_HOOK_WITH(kFill3D<kHip>, libamdhip64, hipError_t, hipMemset3DAsync_spt,
              (hipPitchedPtr, int, hipExtent, hipStream_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD16, (hipDeviceptr_t, unsigned short, size_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD16Async,
              (hipDeviceptr_t, unsigned short, size_t, hipStream_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD32, (hipDeviceptr_t, int, size_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD32Async,
              (hipDeviceptr_t, int, size_t, hipStream_t))
