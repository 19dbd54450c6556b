// Hooks of copies from and to arrays and symbols of CUDA. The names with 2D use devices/copies.h, and the others have
// rows in symbols.def. A program that was built with one default stream per thread calls the functions whose names end
// in _ptds or _ptsz.
#include "cuda/types.h"
#include "devices/copies.h"
#include "devices/forms.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kCuda = msleaks::abi::Family::Cuda;
} // namespace

MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpyToArray,
               (cudaArray_t, size_t, size_t, const void *, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyToArrayAsync,
               (cudaArray_t, size_t, size_t, const void *, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpyFromArray,
               (void *, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyFromArrayAsync,
               (void *, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpyArrayToArray,
               (cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpyToSymbol,
               (const void *, const void *, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyToSymbolAsync,
               (const void *, const void *, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS(_ptds, libcudart, cudaError_t, cudaMemcpyFromSymbol,
               (void *, const void *, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS(_ptsz, libcudart, cudaError_t, cudaMemcpyFromSymbolAsync,
               (void *, const void *, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS_WITH(kCopyToArray2D<kCuda>, _ptds, libcudart, cudaError_t, cudaMemcpy2DToArray,
                    (cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS_WITH(kCopyToArray2D<kCuda>, _ptsz, libcudart, cudaError_t, cudaMemcpy2DToArrayAsync,
                    (cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS_WITH(kCopyFromArray2D<kCuda>, _ptds, libcudart, cudaError_t, cudaMemcpy2DFromArray,
                    (void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_FORMS_WITH(kCopyFromArray2D<kCuda>, _ptsz, libcudart, cudaError_t, cudaMemcpy2DFromArrayAsync,
                    (void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))
MSL_HOOK_FORMS_WITH(kCopyArrays2D<kCuda>, _ptds, libcudart, cudaError_t, cudaMemcpy2DArrayToArray,
                    (cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, cudaMemcpyKind))

MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyHtoA_v2, (CUarray, size_t, const void *, size_t))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyHtoAAsync_v2, (CUarray, size_t, const void *, size_t, CUstream))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyAtoH_v2, (void *, CUarray, size_t, size_t))
MSL_HOOK_FORMS(_ptsz, libcuda, CUresult, cuMemcpyAtoHAsync_v2, (void *, CUarray, size_t, size_t, CUstream))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyDtoA_v2, (CUarray, size_t, CUdeviceptr, size_t))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyAtoD_v2, (CUdeviceptr, CUarray, size_t, size_t))
MSL_HOOK_FORMS(_ptds, libcuda, CUresult, cuMemcpyAtoA_v2, (CUarray, size_t, CUarray, size_t, size_t))
