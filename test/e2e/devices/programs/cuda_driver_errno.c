// Prints how many calls of CUDA's driver changed errno or returned a wrong status. During these calls the hooks query
// the driver: for the device of a context, and for the used memory after an allocation.
#include "keeps_errno.h"

#include <stddef.h>
#include <unistd.h>

typedef unsigned long long CUdeviceptr;
int cuCtxCreate_v2(void **made, unsigned flags, int device);
int cuCtxCreate_v4(void **made, void *how, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxSetCurrent(void *context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemAlloc_v2(CUdeviceptr *block, size_t bytes);
int cuMemFree_v2(CUdeviceptr block);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
int cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);

static void contexts(void) {
  void *first, *second, *popped;
  KEEPS(cuCtxCreate_v2(&first, 0, 7), 1);
  KEEPS(cuCtxCreate_v2(&first, 0, 0), 0);
  KEEPS(cuCtxCreate_v4(&second, NULL, 0, 1), 0);
  KEEPS(cuCtxPushCurrent_v2(first), 0);
  KEEPS(cuCtxPopCurrent_v2(&popped), 0);
  KEEPS(cuCtxDestroy_v2(second), 0);
  KEEPS(cuCtxSetCurrent(first), 0);
}

int main(void) {
  enum { kBytes = 4096, kPauseUs = 200000 };
  static char host[kBytes];
  CUdeviceptr block, refused;
  void *function;
  contexts();
  usleep(kPauseUs); // after this pause msleaks queries the used memory again
  KEEPS(cuMemAlloc_v2(&refused, (size_t)1 << 40), 2);
  KEEPS(cuMemAlloc_v2(&block, kBytes), 0);
  KEEPS(cuMemcpyHtoD_v2(block, host, kBytes), 0);
  KEEPS(cuMemcpyHtoD_v2(0, host, kBytes), 1);
  KEEPS(cuMemsetD8_v2(block, 3, kBytes), 0);
  KEEPS(cuModuleGetFunction(&function, NULL, "scale"), 0);
  KEEPS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0); // the hooks query the kernel's name
  KEEPS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 1);
  KEEPS(cuMemFree_v2(16), 1);
  KEEPS(cuMemFree_v2(block), 0);
  printf("%d failures\n", failures);
  return failures != 0;
}
