// Makes each call four times and prints its status. $STANDIN_FAIL selects the calls that the driver's stand-in refuses.
// Calls CUDA's runtime library or HIP. USES_DRIVER selects CUDA's driver instead, and USES_ACL selects Ascend CANN.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTimes = 4, kBytes = 4096 };
static char host[kBytes];

#if defined USES_ACL
#include "acl.h"
static aclrtStream stream;
static void kernel(const void *arguments, size_t size) { (void)arguments, (void)size; }
static int begin(void) { return aclrtSetDevice(0) + aclrtCreateStream(&stream); }
static int last(void) { return 0; }
static int take(void **block) { return aclrtMalloc(block, kBytes, 0); }
static int give(void *block) { return aclrtFree(block); }
static int take_pinned(void **block) { return aclrtMallocHost(block, kBytes); }
static int give_pinned(void *block) { return aclrtFreeHost(block); }
static int copy(void *to) { return aclrtMemcpy(to, kBytes, host, kBytes, 1); }
static int copy_later(void *to) { return aclrtMemcpyAsync(to, kBytes, host, kBytes, 1, stream); }
static int fill(void *to) { return aclrtMemset(to, kBytes, 1, kBytes); }
static int launch(void) { return aclrtLaunchKernel((aclrtFuncHandle)(uintptr_t)kernel, 1, host, 8, stream); }
#elif defined USES_DRIVER
int cuCtxCreate_v2(void **made, unsigned flags, int device);
int cuMemAlloc_v2(void **block, size_t bytes);
int cuMemFree_v2(void *block);
int cuMemAllocHost_v2(void **block, size_t bytes);
int cuMemFreeHost(void *block);
int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream);
int cuMemsetD8_v2(void *to, unsigned char value, size_t count);
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);
static void *context;
static int begin(void) { return cuCtxCreate_v2(&context, 0, 0); }
static int last(void) { return 0; }
static int take(void **block) { return cuMemAlloc_v2(block, kBytes); }
static int give(void *block) { return cuMemFree_v2(block); }
static int take_pinned(void **block) { return cuMemAllocHost_v2(block, kBytes); }
static int give_pinned(void *block) { return cuMemFreeHost(block); }
static int copy(void *to) { return cuMemcpyHtoD_v2(to, host, kBytes); }
static int copy_later(void *to) { return cuMemcpyHtoDAsync_v2(to, host, kBytes, NULL); }
static int fill(void *to) { return cuMemsetD8_v2(to, 1, kBytes); }
static int launch(void) { return cuLaunchKernel(host, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); }
#else
#include <cuda_runtime_api.h>
static void kernel(void **arguments) { (void)arguments; }
static int begin(void) { return cudaSetDevice(0); }
static int last(void) {
  const int looked_at = cudaPeekAtLastError();
  return cudaGetLastError() == looked_at ? looked_at : -1;
}
static int take(void **block) { return cudaMalloc(block, kBytes); }
static int give(void *block) { return cudaFree(block); }
static int take_pinned(void **block) { return cudaMallocHost(block, kBytes); }
static int give_pinned(void *block) { return cudaFreeHost(block); }
static int copy(void *to) { return cudaMemcpy(to, host, kBytes, cudaMemcpyHostToDevice); }
static int copy_later(void *to) { return cudaMemcpyAsync(to, host, kBytes, cudaMemcpyHostToDevice, NULL); }
static int fill(void *to) { return cudaMemset(to, 1, kBytes); }
static int launch(void) {
  const dim3 one = {1, 1, 1};
  return cudaLaunchKernel((const void *)(uintptr_t)kernel, one, one, NULL, 0, NULL);
}
#endif

#define FOUR_TIMES(what)                                                                                               \
  for (int i = 0; i < kTimes; ++i) {                                                                                   \
    const int status = what;                                                                                           \
    printf(#what ": %d, last error %d\n", status, last());                                                             \
  }

int main(void) {
  void *block = NULL, *pinned = NULL;
  if (begin() != 0)
    return 1;
  FOUR_TIMES(take(&block))
  FOUR_TIMES(take_pinned(&pinned))
  FOUR_TIMES(copy(block))
  FOUR_TIMES(copy_later(block))
  FOUR_TIMES(fill(block))
  FOUR_TIMES(launch())
  FOUR_TIMES(give(block))
  FOUR_TIMES(give_pinned(pinned))
  return 0;
}
