// Declares the part of CUDA's API that the tests call, as CUDA's own headers do.
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int cudaError_t;
typedef int CUresult;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUmemPool_st *cudaMemPool_t;
typedef unsigned long long CUdeviceptr;
struct dim3 {
  unsigned x, y, z;
};
typedef struct dim3 dim3;

cudaError_t cudaMalloc(void **block, size_t size);
cudaError_t cudaMallocPitch(void **block, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void **block, size_t size, unsigned flags);
cudaError_t cudaMallocAsync(void **block, size_t size, cudaStream_t stream);
cudaError_t cudaMallocAsync_ptsz(void **block, size_t size, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void **block, size_t size, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync_ptsz(void **block, size_t size, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaMallocHost(void **block, size_t size);
cudaError_t cudaHostAlloc(void **block, size_t size, unsigned flags);
cudaError_t cudaFree(void *block);
cudaError_t cudaFreeAsync(void *block, cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *block, cudaStream_t stream);
cudaError_t cudaFreeHost(void *block);
CUresult cuMemAlloc_v2(CUdeviceptr *block, size_t size);
CUresult cuMemAllocPitch_v2(CUdeviceptr *block, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocManaged(CUdeviceptr *block, size_t size, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr *block, size_t size, cudaStream_t stream);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *block, size_t size, cudaStream_t stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *block, size_t size, cudaMemPool_t pool, cudaStream_t stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *block, size_t size, cudaMemPool_t pool, cudaStream_t stream);
CUresult cuMemAllocHost_v2(void **block, size_t size);
CUresult cuMemHostAlloc(void **block, size_t size, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr block);
CUresult cuMemFreeAsync(CUdeviceptr block, cudaStream_t stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr block, cudaStream_t stream);
CUresult cuMemFreeHost(void *block);
cudaError_t cudaHostRegister(void *block, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void *block);
CUresult cuMemHostRegister_v2(void *block, size_t size, unsigned flags);
CUresult cuMemHostUnregister(void *block);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                  cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                             cudaStream_t stream);
typedef struct CUfunc_st *CUfunction;
CUresult cuLaunchKernel(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, cudaStream_t stream, void **arguments,
                        void **extra);
CUresult cuLaunchKernel_ptsz(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared, cudaStream_t stream, void **arguments,
                             void **extra);
CUresult cuLaunchKernelEx_ptsz(const void *config, CUfunction kernel, void **arguments, void **extra);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                        cudaStream_t stream, void **arguments);
CUresult cuLaunchKernelEx(const void *config, CUfunction kernel, void **arguments, void **extra);
cudaError_t cudaLaunchKernelExC(const void *config, const void *kernel, void **arguments);
cudaError_t cudaLaunchKernelExC_ptsz(const void *config, const void *kernel, void **arguments);
CUresult cuLaunchCooperativeKernel(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   cudaStream_t stream, void **arguments);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, int kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, cudaStream_t stream);
cudaError_t cudaMemset(void *to, int value, size_t size);
cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t size, int kind);
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t size, int kind, cudaStream_t stream);
cudaError_t cudaMemset_ptds(void *to, int value, size_t size);
cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t size, cudaStream_t stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, cudaStream_t stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, cudaStream_t stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, cudaStream_t stream);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t size);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, cudaStream_t stream);
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                cudaStream_t stream);
typedef struct CUctx_st *CUcontext;
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, cudaStream_t stream);
CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size, cudaStream_t stream);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size);
CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
                           cudaStream_t stream);
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                size_t size, cudaStream_t stream);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t size, cudaStream_t stream);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t size, cudaStream_t stream);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size, cudaStream_t stream);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t size);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t size, cudaStream_t stream);
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void *, size_t, int);
cudaError_t cudaMemcpyToArray_ptds(cudaArray_t, size_t, size_t, const void *, size_t, int);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t, size_t, size_t, const void *, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t, size_t, size_t, const void *, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyFromArray(void *, cudaArray_const_t, size_t, size_t, size_t, int);
cudaError_t cudaMemcpyFromArray_ptds(void *, cudaArray_const_t, size_t, size_t, size_t, int);
cudaError_t cudaMemcpyFromArrayAsync(void *, cudaArray_const_t, size_t, size_t, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyFromArrayAsync_ptsz(void *, cudaArray_const_t, size_t, size_t, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, int);
cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t, int);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
cudaError_t cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, int);
cudaError_t cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *, const void *, size_t, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
cudaError_t cudaMemcpyFromSymbol_ptds(void *, const void *, size_t, size_t, int);
cudaError_t cudaMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, cudaStream_t);
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *, const void *, size_t, size_t, int, cudaStream_t);
CUresult cuMemcpyHtoA_v2(cudaArray_t, size_t, const void *, size_t);
CUresult cuMemcpyHtoA_v2_ptds(cudaArray_t, size_t, const void *, size_t);
CUresult cuMemcpyHtoAAsync_v2(cudaArray_t, size_t, const void *, size_t, cudaStream_t);
CUresult cuMemcpyHtoAAsync_v2_ptsz(cudaArray_t, size_t, const void *, size_t, cudaStream_t);
CUresult cuMemcpyAtoH_v2(void *, cudaArray_t, size_t, size_t);
CUresult cuMemcpyAtoH_v2_ptds(void *, cudaArray_t, size_t, size_t);
CUresult cuMemcpyAtoHAsync_v2(void *, cudaArray_t, size_t, size_t, cudaStream_t);
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *, cudaArray_t, size_t, size_t, cudaStream_t);
CUresult cuMemcpyDtoA_v2(cudaArray_t, size_t, CUdeviceptr, size_t);
CUresult cuMemcpyDtoA_v2_ptds(cudaArray_t, size_t, CUdeviceptr, size_t);
CUresult cuMemcpyAtoD_v2(CUdeviceptr, cudaArray_t, size_t, size_t);
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr, cudaArray_t, size_t, size_t);
CUresult cuMemcpyAtoA_v2(cudaArray_t, size_t, cudaArray_t, size_t, size_t);
CUresult cuMemcpyAtoA_v2_ptds(cudaArray_t, size_t, cudaArray_t, size_t, size_t);
#ifdef __cplusplus
}
#endif
