// Hooks for arrays of HIP (devices/arrays.h).
#include "devices/arrays.h"
#include "hip/types.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
using Freed = Give<kHip>;
} // namespace

MSL_HOOK_WITH(kArray<kHip>, libamdhip64, hipError_t, hipMallocArray,
              (hipArray_t *, const hipChannelFormatDesc *, size_t, size_t, unsigned))
MSL_HOOK_WITH(kArray3D<kHip>, libamdhip64, hipError_t, hipMalloc3DArray,
              (hipArray_t *, const hipChannelFormatDesc *, hipExtent, unsigned))
MSL_HOOK_WITH(kMipmapped<kHip>, libamdhip64, hipError_t, hipMallocMipmappedArray,
              (hipMipmappedArray_t *, const hipChannelFormatDesc *, hipExtent, unsigned, unsigned))
MSL_HOOK_AS(Freed, libamdhip64, hipError_t, hipFreeArray, (hipArray_t))
MSL_HOOK_AS(Freed, libamdhip64, hipError_t, hipFreeMipmappedArray, (hipMipmappedArray_t))

MSL_HOOK_WITH(kDriverArray<kHip>, libamdhip64, hipError_t, hipArrayCreate, (hipArray_t *, const HIP_ARRAY_DESCRIPTOR *))
MSL_HOOK_WITH(kDriverArray<kHip>, libamdhip64, hipError_t, hipArray3DCreate,
              (hipArray_t *, const HIP_ARRAY3D_DESCRIPTOR *))
MSL_HOOK_WITH(kDriverArray<kHip>, libamdhip64, hipError_t, hipMipmappedArrayCreate,
              (hipMipmappedArray_t *, HIP_ARRAY3D_DESCRIPTOR *, unsigned))
MSL_HOOK_AS(Freed, libamdhip64, hipError_t, hipArrayDestroy, (hipArray_t))
MSL_HOOK_AS(Freed, libamdhip64, hipError_t, hipMipmappedArrayDestroy, (hipMipmappedArray_t))
