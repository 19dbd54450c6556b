// Declares the functions of CUDA's static runtime library that a program calls. Their symbols are hidden.
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

typedef struct dim3 {
  unsigned x, y, z;
} dim3;
int cudaMalloc(void **block, size_t size);
int cudaMallocManaged(void **block, size_t size, unsigned flags);
int cudaMallocHost(void **block, size_t size);
int cudaMallocAsync(void **block, size_t size, void *stream);
int cudaFree(void *block);
int cudaFreeHost(void *block);
int cudaFreeAsync(void *block, void *stream);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
int cudaMemset(void *to, int value, size_t size);
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
