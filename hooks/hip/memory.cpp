// Hooks of HIP's memory functions that a row of symbols.def cannot describe (devices/memory.h), and of functions that
// map physical memory to addresses.
#include "devices/memory.h"
#include "hip/types.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
} // namespace

MSL_HOOK_WITH(kPhysical<kHip>, libamdhip64, hipError_t, hipMemCreate,
              (hipMemGenericAllocationHandle_t *, size_t, const hipMemAllocationProp *, unsigned long long))
MSL_HOOK_WITH(kReleased<kHip>, libamdhip64, hipError_t, hipMemRelease, (hipMemGenericAllocationHandle_t))
MSL_HOOK_WITH(kRetained<kHip>, libamdhip64, hipError_t, hipMemRetainAllocationHandle,
              (hipMemGenericAllocationHandle_t *, void *))
MSL_HOOK(libamdhip64, hipError_t, hipMemMap,
         (void *, size_t, size_t, hipMemGenericAllocationHandle_t, unsigned long long))
MSL_HOOK(libamdhip64, hipError_t, hipMemUnmap, (void *, size_t))

MSL_HOOK_WITH(kPitched3D<kHip>, libamdhip64, hipError_t, hipMalloc3D, (hipPitchedPtr *, hipExtent))
