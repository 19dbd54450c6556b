// What of CUDA a row alone cannot say (device_memory.h).
#include "device_memory.h"

#ifdef MSL_VENDOR_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#else
using cudaError_t = int;
using cudaStream_t = void *;
using cudaGraphExec_t = void *;
using cudaArray_t = void *;
using cudaMemcpyKind = int;
struct cudaChannelFormatDesc {
  int x, y, z, w, f;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
using CUresult = int;
using CUstream = void *;
using CUgraphExec = void *;
using CUmemGenericAllocationHandle = unsigned long long;
struct CUmemLocation {
  int type, id;
};
struct CUmemAllocationProp {
  int type, requestedHandleTypes;
  CUmemLocation location;
};
#endif

using namespace msleaks::hooks;

namespace {
constexpr auto kCuda = msleaks::abi::Family::Cuda;
using Freed = Give<kCuda>;
using Launched = Launch<kCuda>;
} // namespace

MSL_HOOK_WITH(kPhysical<kCuda>, libcuda, CUresult, cuMemCreate,
              (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long))
MSL_HOOK_AS(Freed, libcuda, CUresult, cuMemRelease, (CUmemGenericAllocationHandle))

MSL_HOOK_WITH(kArray<kCuda>, libcudart, cudaError_t, cudaMallocArray,
              (cudaArray_t *, const cudaChannelFormatDesc *, size_t, size_t, unsigned))
MSL_HOOK_WITH(kArray3D<kCuda>, libcudart, cudaError_t, cudaMalloc3DArray,
              (cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned))
MSL_HOOK_AS(Freed, libcudart, cudaError_t, cudaFreeArray, (cudaArray_t))
MSL_HOOK_WITH(kPitched3D<kCuda>, libcudart, cudaError_t, cudaMalloc3D, (cudaPitchedPtr *, cudaExtent))

MSL_HOOK_WITH(kCopy2D<kCuda>, libcudart, cudaError_t, cudaMemcpy2D,
              (void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind))
MSL_HOOK_WITH(kCopy2DAsync<kCuda>, libcudart, cudaError_t, cudaMemcpy2DAsync,
              (void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t))

MSL_HOOK_AS(Launched, libcudart, cudaError_t, cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t))
MSL_HOOK_AS(Launched, libcudart, cudaError_t, cudaGraphLaunch_ptsz, (cudaGraphExec_t, cudaStream_t))
MSL_HOOK_AS(Launched, libcuda, CUresult, cuGraphLaunch, (CUgraphExec, CUstream))
MSL_HOOK_AS(Launched, libcuda, CUresult, cuGraphLaunch_ptsz, (CUgraphExec, CUstream))
