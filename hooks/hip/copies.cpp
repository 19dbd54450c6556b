// Hooks of HIP's copies and fills that a row of symbols.def cannot describe (devices/copies.h). A program that was
// built with one default stream per thread calls the functions whose names end in _spt.
#include "devices/copies.h"
#include "devices/forms.h"
#include "hip/types.h"

#include <atomic>

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
MSL_ASKED(array_information, "libamdhip64", "hipArrayGetInfo")
MSL_ASKED(runtime_version, "libamdhip64", "hipRuntimeGetVersion")
MSL_ASKED(look_at_error, "libamdhip64", "hipPeekAtLastError")
MSL_ASKED(take_error, "libamdhip64", "hipGetLastError")
constexpr LastError kLast = {look_at_error, take_error};
constexpr auto kCopyParms = kCopy3D<kHip, array_information, hipChannelFormatDesc>;

// Version 6 gave the kinds of memory other numbers, and HIP_MEMCPY3D wider fields.
bool isBeforeVersion6() {
  enum Known : int { kUnknown, kBefore, kSince };
  static std::atomic<int> known = kUnknown;
  int version = 0;
  if (known.load(std::memory_order_relaxed) == kUnknown &&
      leavingLastError(kLast, [&] { return callReal<int(int *)>(runtime_version, &version); }) == 0)
    known.store(version < 60'000'000 ? kBefore : kSince, std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed) == kBefore;
}
constexpr MemoryTypes kTypes = {.host = 1, .array = 10}, kTypesBefore6 = {.host = 0, .array = 2};

// hip_Memcpy2D, and HIP_MEMCPY3D with fields of either width.
struct Copy2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost, *srcDevice, *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  const void *dstHost, *dstDevice, *dstArray;
  size_t dstPitch, WidthInBytes, Height;
};
template <class Number> struct Copy3D {
  Number srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost, *srcDevice, *srcArray;
  Number srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  const void *dstHost, *dstDevice, *dstArray;
  Number dstPitch, dstHeight, WidthInBytes, Height, Depth;
};
#ifdef MSL_VENDOR_HEADERS
using Vendors3D = Copy3D<decltype(HIP_MEMCPY3D::Depth)>;
static_assert(sizeof(Copy2D) == sizeof(hip_Memcpy2D) && sizeof(Vendors3D) == sizeof(HIP_MEMCPY3D));
static_assert(offsetof(Copy2D, dstArray) == offsetof(hip_Memcpy2D, dstArray));
static_assert(offsetof(Vendors3D, dstArray) == offsetof(HIP_MEMCPY3D, dstArray));
static_assert(hipMemoryTypeArray == (HIP_VERSION_MAJOR < 6 ? kTypesBefore6 : kTypes).array);
#endif

template <class Since6, class Before6>
constexpr auto kDriverCopy = [](auto real, void *caller, const auto *copy, auto... stream) {
  const auto as_given = [&] { return real(copy, stream...); };
  if (copy == nullptr)
    return as_given();
  if (isBeforeVersion6())
    return copyDescribed<kHip>(as_given, caller, kTypesBefore6, *reinterpret_cast<const Before6 *>(copy), stream...);
  return copyDescribed<kHip>(as_given, caller, kTypes, *reinterpret_cast<const Since6 *>(copy), stream...);
};
constexpr auto kDriverCopy2D = kDriverCopy<Copy2D, Copy2D>;
constexpr auto kDriverCopy3D = kDriverCopy<Copy3D<size_t>, Copy3D<unsigned>>;
} // namespace

MSL_HOOK_FORMS_WITH(kCopy2D<kHip>, _spt, libamdhip64, hipError_t, hipMemcpy2D,
                    (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_FORMS_WITH(kCopy2D<kHip>, _spt, libamdhip64, hipError_t, hipMemcpy2DAsync,
                    (void *, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_FORMS_WITH(kCopyParms, _spt, libamdhip64, hipError_t, hipMemcpy3D, (const hipMemcpy3DParms *))
MSL_HOOK_FORMS_WITH(kCopyParms, _spt, libamdhip64, hipError_t, hipMemcpy3DAsync,
                    (const hipMemcpy3DParms *, hipStream_t))
MSL_HOOK_WITH(kCopyParms, libamdhip64, hipError_t, hipMemcpy3DPeer, (hipMemcpy3DPeerParms *))
MSL_HOOK_WITH(kCopyParms, libamdhip64, hipError_t, hipMemcpy3DPeerAsync, (hipMemcpy3DPeerParms *, hipStream_t))
MSL_HOOK_FORMS_WITH(kFill2D<kHip>, _spt, libamdhip64, hipError_t, hipMemset2D, (void *, size_t, int, size_t, size_t))
MSL_HOOK_FORMS_WITH(kFill2D<kHip>, _spt, libamdhip64, hipError_t, hipMemset2DAsync,
                    (void *, size_t, int, size_t, size_t, hipStream_t))
MSL_HOOK_FORMS_WITH(kFill3D<kHip>, _spt, libamdhip64, hipError_t, hipMemset3D, (hipPitchedPtr, int, hipExtent))
MSL_HOOK_FORMS_WITH(kFill3D<kHip>, _spt, libamdhip64, hipError_t, hipMemset3DAsync,
                    (hipPitchedPtr, int, hipExtent, hipStream_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD16, (hipDeviceptr_t, unsigned short, size_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD16Async,
              (hipDeviceptr_t, unsigned short, size_t, hipStream_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD32, (hipDeviceptr_t, int, size_t))
MSL_HOOK_WITH(kFillNumbers<kHip>, libamdhip64, hipError_t, hipMemsetD32Async,
              (hipDeviceptr_t, int, size_t, hipStream_t))
MSL_HOOK_WITH(kFillNumbers2D<kHip>, libamdhip64, hipError_t, hipMemsetD2D8,
              (hipDeviceptr_t, size_t, unsigned char, size_t, size_t))
MSL_HOOK_WITH(kFillNumbers2D<kHip>, libamdhip64, hipError_t, hipMemsetD2D8Async,
              (hipDeviceptr_t, size_t, unsigned char, size_t, size_t, hipStream_t))
MSL_HOOK_WITH(kFillNumbers2D<kHip>, libamdhip64, hipError_t, hipMemsetD2D16,
              (hipDeviceptr_t, size_t, unsigned short, size_t, size_t))
MSL_HOOK_WITH(kFillNumbers2D<kHip>, libamdhip64, hipError_t, hipMemsetD2D16Async,
              (hipDeviceptr_t, size_t, unsigned short, size_t, size_t, hipStream_t))
MSL_HOOK_WITH(kFillNumbers2D<kHip>, libamdhip64, hipError_t, hipMemsetD2D32,
              (hipDeviceptr_t, size_t, unsigned, size_t, size_t))
MSL_HOOK_WITH(kFillNumbers2D<kHip>, libamdhip64, hipError_t, hipMemsetD2D32Async,
              (hipDeviceptr_t, size_t, unsigned, size_t, size_t, hipStream_t))
MSL_HOOK_WITH(kDriverCopy2D, libamdhip64, hipError_t, hipMemcpyParam2D, (const hip_Memcpy2D *))
MSL_HOOK_WITH(kDriverCopy2D, libamdhip64, hipError_t, hipMemcpyParam2DAsync, (const hip_Memcpy2D *, hipStream_t))
MSL_HOOK_WITH(kDriverCopy2D, libamdhip64, hipError_t, hipDrvMemcpy2DUnaligned, (const hip_Memcpy2D *))
MSL_HOOK_WITH(kDriverCopy3D, libamdhip64, hipError_t, hipDrvMemcpy3D, (const HIP_MEMCPY3D *))
MSL_HOOK_WITH(kDriverCopy3D, libamdhip64, hipError_t, hipDrvMemcpy3DAsync, (const HIP_MEMCPY3D *, hipStream_t))
