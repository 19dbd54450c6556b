// Imitates the functions of CUDA's runtime library that a program with a default stream for each thread calls.
#include "../common/refusal.h"

#include <cuda_runtime_api.h>

extern "C" {
cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                   size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *copy) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemcpy3D(copy);
}
cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms *copy, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemcpy3DAsync(copy, stream);
}
cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width, size_t height) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemset2D(to, pitch, value, width, height);
}
cudaError_t cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemset2DAsync(to, pitch, value, width, height, stream);
}
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr to, int value, cudaExtent extent) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemset3D(to, value, extent);
}
cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemset3DAsync(to, value, extent, stream);
}
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemcpy(to, from, size, kind);
}
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemcpyAsync(to, from, size, kind, stream);
}
cudaError_t cudaMemset_ptds(void *to, int value, size_t size) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemset(to, value, size);
}
cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t size, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMemsetAsync(to, value, size, stream);
}
cudaError_t cudaMallocAsync_ptsz(void **block, size_t size, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMallocAsync(block, size, stream);
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void **block, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaMallocFromPoolAsync(block, size, pool, stream);
}
cudaError_t cudaFreeAsync_ptsz(void *block, cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaFreeAsync(block, stream);
}
cudaError_t cudaLaunchKernel_ptsz(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                  cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                             cudaStream_t stream) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  STANDIN_MAY_REFUSE(static_cast<cudaError_t>);
  return cudaLaunchKernelExC(config, kernel, arguments);
}
}
