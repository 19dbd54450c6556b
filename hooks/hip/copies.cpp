// Hooks of HIP's copies and fills that the effects of a row cannot describe.
#include "devices/copies.h"
#include "core/rows.h"
#include "hip/ask.h"
#include "hip/rows.h"

#include <atomic>

using namespace msleaks::hooks;

namespace {
MSL_ASKED(array_information, "libamdhip64", "hipArrayGetInfo")
MSL_ASKED(runtime_version, "libamdhip64", "hipRuntimeGetVersion")
constexpr auto kCopyParms = kCopy3D<kVendor, array_information, hipChannelFormatDesc>;

// Version 6 gave the kinds of memory other numbers, and HIP_MEMCPY3D wider fields.
bool isBeforeVersion6() {
  enum Known : int { kUnknown, kBefore, kSince };
  static std::atomic<int> known = kUnknown;
  int version = 0;
  if (known.load(std::memory_order_relaxed) == kUnknown && hip::ask<int(int *)>(runtime_version, &version) == 0)
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
    return copyDescribed<kVendor>(as_given, caller, kTypesBefore6, *reinterpret_cast<const Before6 *>(copy), stream...);
  return copyDescribed<kVendor>(as_given, caller, kTypes, *reinterpret_cast<const Since6 *>(copy), stream...);
};
constexpr auto kDriverCopy2D = kDriverCopy<Copy2D, Copy2D>;
constexpr auto kDriverCopy3D = kDriverCopy<Copy3D<size_t>, Copy3D<unsigned>>;
} // namespace

#define MSL_PART_COPIES
#include "msleaks/abi/functions/hip.def"
