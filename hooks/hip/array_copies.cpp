// Hooks of copies from and to arrays and symbols of HIP. The names with 2D use devices/copies.h, and the others have
// rows in symbols.def. A program that was built with one default stream per thread calls the functions whose names end
// in _spt.
#include "devices/copies.h"
#include "devices/forms.h"
#include "hip/types.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kHip = msleaks::abi::Family::Hip;
} // namespace

MSL_HOOK(libamdhip64, hipError_t, hipMemcpyToArray, (hipArray_t, size_t, size_t, const void *, size_t, hipMemcpyKind))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpyFromArray,
               (void *, hipArray_const_t, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpyToSymbol,
               (const void *, const void *, size_t, size_t, hipMemcpyKind))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpyToSymbolAsync,
               (const void *, const void *, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpyFromSymbol,
               (void *, const void *, size_t, size_t, hipMemcpyKind))
MSL_HOOK_FORMS(_spt, libamdhip64, hipError_t, hipMemcpyFromSymbolAsync,
               (void *, const void *, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_FORMS_WITH(kCopyToArray2D<kHip>, _spt, libamdhip64, hipError_t, hipMemcpy2DToArray,
                    (hipArray_t, size_t, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_FORMS_WITH(kCopyToArray2D<kHip>, _spt, libamdhip64, hipError_t, hipMemcpy2DToArrayAsync,
                    (hipArray_t, size_t, size_t, const void *, size_t, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_FORMS_WITH(kCopyFromArray2D<kHip>, _spt, libamdhip64, hipError_t, hipMemcpy2DFromArray,
                    (void *, size_t, hipArray_const_t, size_t, size_t, size_t, size_t, hipMemcpyKind))
MSL_HOOK_FORMS_WITH(kCopyFromArray2D<kHip>, _spt, libamdhip64, hipError_t, hipMemcpy2DFromArrayAsync,
                    (void *, size_t, hipArray_const_t, size_t, size_t, size_t, size_t, hipMemcpyKind, hipStream_t))
MSL_HOOK_WITH(kCopyArrays2D<kHip>, libamdhip64, hipError_t, hipMemcpy2DArrayToArray,
              (hipArray_t, size_t, size_t, hipArray_const_t, size_t, size_t, size_t, size_t, hipMemcpyKind))

MSL_HOOK(libamdhip64, hipError_t, hipMemcpyHtoA, (hipArray_t, size_t, const void *, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyHtoAAsync, (hipArray_t, size_t, const void *, size_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyAtoH, (void *, hipArray_t, size_t, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyAtoHAsync, (void *, hipArray_t, size_t, size_t, hipStream_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyDtoA, (hipArray_t, size_t, hipDeviceptr_t, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyAtoD, (hipDeviceptr_t, hipArray_t, size_t, size_t))
MSL_HOOK(libamdhip64, hipError_t, hipMemcpyAtoA, (hipArray_t, size_t, hipArray_t, size_t, size_t))
