// Calls functions that no loaded library defines.
#include <stddef.h>
#include <stdio.h>

void *clCreateBuffer(void *context, unsigned long flags, size_t bytes, void *host, int *status);
int clReleaseMemObject(void *buffer);
int cudaMalloc(void **block, size_t bytes), cuMemAlloc_v2(unsigned long long *block, size_t bytes);
int hipFree(void *block), aclrtFree(void *block), halMemFree(void *block);

void use_runtime(size_t bytes) {
  int status = -999, untouched = 7;
  void *const buffer = clCreateBuffer(NULL, 0, bytes, NULL, &status), *block = &untouched;
  unsigned long long address = 7;
  printf("opencl: %d %d %d\n", buffer != NULL, status, clReleaseMemObject(buffer));
  printf("cuda: %d %d", cudaMalloc(&block, bytes), cuMemAlloc_v2(&address, bytes));
  printf(" %d %d\n", block == &untouched, address == 7);
  printf("hip: %d acl: %d hal: %d\n", hipFree(block), aclrtFree(block), halMemFree(block));
}
