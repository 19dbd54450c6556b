// CUDA's runtime library, as a program calls it that was built with a default stream for each thread.
#include <cuda_runtime_api.h>

extern "C" {
cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                   size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *copy) { return cudaMemcpy3D(copy); }
cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms *copy, cudaStream_t stream) {
  return cudaMemcpy3DAsync(copy, stream);
}
cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2D(to, pitch, value, width, height);
}
cudaError_t cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  return cudaMemset2DAsync(to, pitch, value, width, height, stream);
}
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr to, int value, cudaExtent extent) {
  return cudaMemset3D(to, value, extent);
}
cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return cudaMemset3DAsync(to, value, extent, stream);
}
}
