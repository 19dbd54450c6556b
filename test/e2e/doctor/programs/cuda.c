// Allocates by CUDA's runtime library. STANDIN adds a stand-in of this library. LIBRARY leaves out main().
#include <stdlib.h>

int cudaMalloc(void **block, size_t bytes);
int cudaFree(void *block);
int cudaMallocOfLaterVersion(void **block, size_t bytes);
int cudaLaunchKernelOfLaterVersion(void *graph, void *stream);
int cudaMemcpyOfLaterVersion(void *to, const void *from, size_t bytes);

#ifdef STANDIN
int cudaMalloc(void **block, size_t bytes) { return (*block = malloc(bytes)) == 0; }
int cudaFree(void *block) {
  free(block);
  return 0;
}
int cudaMallocOfLaterVersion(void **block, size_t bytes) { return cudaMalloc(block, bytes); }
int cudaLaunchKernelOfLaterVersion(void *graph, void *stream) { return graph == stream; }
int cudaMemcpyOfLaterVersion(void *to, const void *from, size_t bytes) { return to == from && bytes != 0; }
#endif

#ifndef LIBRARY
int main(void) {
  void *block = 0, *array = 0;
  int failed = cudaMalloc(&block, 100) | cudaMallocOfLaterVersion(&array, 100) |
               cudaLaunchKernelOfLaterVersion(array, block) | cudaMemcpyOfLaterVersion(block, array, 8);
  return failed | cudaFree(array) | cudaFree(block);
}
#endif
