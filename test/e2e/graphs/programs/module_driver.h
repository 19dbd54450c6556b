// Contains the common code of the host programs that load modules. It declares the
// functions of the driver, checks errors, and prints results. For HIP, a test renames CUDA's names.
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long CUdeviceptr;
int cuInit(unsigned), cuModuleLoad(void **, const char *), cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr);
int cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, void *),
    cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, void *);
int cuStreamCreate(void **, unsigned), cuStreamSynchronize(void *), cuStreamDestroy_v2(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
#ifdef HIP
int hipExtModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, void *,
                             void **, void **, void *, void *, unsigned);
#else
int cuCtxCreate_v2(void **, unsigned, int), cuCtxDestroy_v2(void *);
#endif

static void must(int status, const char *what) {
  if (status == 0)
    return;
  printf("%s: %d\n", what, status);
  exit(1);
}

// Copies `memory` to the buffer `values` after the stream's previous work, and prints a sum of the values.
static void printSum(CUdeviceptr memory, unsigned *values, int count, void *stream) {
  must(cuMemcpyDtoHAsync_v2(values, memory, count * sizeof *values, stream), "read");
  must(cuStreamSynchronize(stream), "wait");
  unsigned sum = 0;
  for (int i = 0; i < count; ++i)
    sum = sum * 31 + values[i];
  printf("%u\n", sum);
}
