// Hooks of HIP's functions that make several copies in one call (devices/batches.h). HIP has them since version 7.
#include "devices/batches.h"
#include "hip/types.h"

#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 7
using hipMemcpy3DBatchOp = msleaks::hooks::VolumeCopy<void *>;
#endif

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
MSL_ASKED(array_information, "libamdhip64", "hipArrayGetInfo")
constexpr auto kLists = kCopyLists<kHip, kLastOne>;
constexpr auto kVolumes = kCopyVolumes<kHip, kLastOne, &elementBytes<array_information, hipChannelFormatDesc>>;
} // namespace

MSL_HOOK_WITH(kLists, libamdhip64, hipError_t, hipMemcpyBatchAsync,
              (void **, void **, size_t *, size_t, hipMemcpyAttributes *, size_t *, size_t, size_t *, hipStream_t))
MSL_HOOK_WITH(kVolumes, libamdhip64, hipError_t, hipMemcpy3DBatchAsync,
              (size_t, hipMemcpy3DBatchOp *, size_t *, unsigned long long, hipStream_t))
