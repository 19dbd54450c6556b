// Prints how many calls of CUDA's runtime library changed errno or returned a wrong status. Some calls are refused.
#include "keeps_errno.h"

#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { kBytes = 1 << 20, kPauseUs = 200000 };

// This function is the kernel: the driver's stand-in calls it at each launch.
void scale(void **arguments) { **(int **)arguments[0] *= 2; }

// Copies to an array. The hooks query the driver for the size of the array's elements.
static void array(void) {
  static char host[400];
  const struct cudaChannelFormatDesc number = {32, 0, 0, 0, 2};
  struct cudaMemcpy3DParms copy = {.srcPtr = {host, 400, 400, 1}, .extent = {100, 1, 1}};
  KEEPS(cudaMallocArray(&copy.dstArray, &number, 100, 0, 0), 0);
  KEEPS(cudaMemcpy3D(&copy), 0);
  KEEPS(cudaFreeArray(copy.dstArray), 0);
}

int main(void) {
  static char host[kBytes];
  void *block = NULL, *refused = NULL;
  void *arguments[] = {&block};
  const void *const kernel = (const void *)(uintptr_t)scale;
  const dim3 one = {1, 1, 1};
  cudaSetDevice(0);
  cudaMalloc(&refused, 1); // the first call of the driver may set errno itself
  cudaFree(refused);
  usleep(kPauseUs);                     // after this pause msleaks queries the used memory again
  KEEPS(cudaMalloc(&block, kBytes), 0); // watched
  KEEPS(cudaMalloc(&refused, (size_t)1 << 40), cudaErrorMemoryAllocation);
  KEEPS(cudaGetLastError(), cudaErrorMemoryAllocation);
  for (int i = 0; i < 2; ++i) {
    KEEPS(cudaMemset(block, i, kBytes), 0);
    KEEPS(cudaLaunchKernel(kernel, one, one, arguments, 0, NULL), 0);
    KEEPS(cudaMemcpy(host, block, kBytes, cudaMemcpyDeviceToHost), 0);
    KEEPS(cudaMemcpy(block, host, kBytes, cudaMemcpyHostToDevice), 0);
    KEEPS(cudaLaunchKernel(NULL, one, one, arguments, 0, NULL), cudaErrorInvalidDeviceFunction);
    KEEPS(cudaMemcpy(NULL, host, kBytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    KEEPS(cudaGetLastError(), cudaErrorInvalidValue);
  }
  KEEPS(cudaFree((void *)16), cudaErrorInvalidValue);
  KEEPS(cudaGetLastError(), cudaErrorInvalidValue);
  KEEPS(cudaFree(block), 0);
  array();
  printf("%d failures\n", failures);
  return failures != 0;
}
