// Hooks for arrays of CUDA's runtime library and of its driver (devices/arrays.h).
#include "devices/arrays.h"
#include "cuda/types.h"

using namespace msleaks::hooks;

namespace {
constexpr auto kCuda = msleaks::abi::Family::Cuda;
using Freed = Give<kCuda>;
} // namespace

MSL_HOOK_WITH(kArray<kCuda>, libcudart, cudaError_t, cudaMallocArray,
              (cudaArray_t *, const cudaChannelFormatDesc *, size_t, size_t, unsigned))
MSL_HOOK_WITH(kArray3D<kCuda>, libcudart, cudaError_t, cudaMalloc3DArray,
              (cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned))
MSL_HOOK_WITH(kMipmapped<kCuda>, libcudart, cudaError_t, cudaMallocMipmappedArray,
              (cudaMipmappedArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned, unsigned))
MSL_HOOK_AS(Freed, libcudart, cudaError_t, cudaFreeArray, (cudaArray_t))
MSL_HOOK_AS(Freed, libcudart, cudaError_t, cudaFreeMipmappedArray, (cudaMipmappedArray_t))

MSL_HOOK_WITH(kDriverArray<kCuda>, libcuda, CUresult, cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *))
MSL_HOOK_WITH(kDriverArray<kCuda>, libcuda, CUresult, cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *))
MSL_HOOK_WITH(kDriverArray<kCuda>, libcuda, CUresult, cuMipmappedArrayCreate,
              (CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned))
MSL_HOOK_AS(Freed, libcuda, CUresult, cuArrayDestroy, (CUarray))
MSL_HOOK_AS(Freed, libcuda, CUresult, cuMipmappedArrayDestroy, (CUmipmappedArray))
