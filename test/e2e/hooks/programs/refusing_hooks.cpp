// Hooks for the functions of refusing.c. The type of a status is an enumeration, as in CUDA's own headers.
#include "msleaks/hook.h"

#include <cstddef>

enum cudaError { cudaSuccess };
struct dim3 {
  unsigned x, y, z;
};

MSL_HOOK(librefusing, cudaError, cudaMalloc, (void **, size_t))
MSL_HOOK(librefusing, cudaError, cudaFree, (void *))
MSL_HOOK(librefusing, cudaError, cudaMemcpy, (void *, const void *, size_t, int))
MSL_HOOK(librefusing, cudaError, cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *))
