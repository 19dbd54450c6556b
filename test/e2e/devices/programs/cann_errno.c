// Calls the libraries ACL, runtime, driver, ATB and MSTX. Some calls are refused. Prints how many of the calls changed
// errno or returned a wrong status.
#include "atb.h"
#include "keeps_errno.h"
#include "mstx.h"

#include <stdint.h>
#include <unistd.h>

enum { kBytes = 1 << 20, kPauseUs = 200000, kKernel = 7 };

// This function is the kernel: the driver's stand-in calls it at each launch.
void kernel_7(const void *arguments, size_t size) { **(int *const *)arguments += size != 0; }

static aclrtStream stream;

static void call_acl(void *block) {
  static char host[kBytes];
  const aclrtFuncHandle kernel = (aclrtFuncHandle)(uintptr_t)kernel_7;
  KEEPS(aclrtMemset(block, kBytes, 1, kBytes), 0);
  KEEPS(aclrtLaunchKernel(kernel, 1, &block, sizeof block, stream), 0);
  KEEPS(aclrtMemcpy(host, kBytes, block, kBytes, 2), 0);
  KEEPS(aclrtMemcpy2d(block, 64, host, 64, 32, 4, 1), 0);
  KEEPS(aclrtLaunchKernel(NULL, 1, &block, sizeof block, stream), ACL_ERROR_INVALID_PARAM);
  KEEPS(aclrtMemcpy(NULL, kBytes, host, kBytes, 1), ACL_ERROR_INVALID_PARAM);
}

static void call_runtime(void *block) {
  aclrtFuncHandle function = NULL;
  KEEPS(aclrtBinaryGetFunctionByEntry(NULL, kKernel, &function), 0);
  KEEPS(rtsFuncGetByEntry(NULL, kKernel, &function), 0);
  KEEPS(rtBinaryGetFunction(NULL, kKernel, &function), 0);
  KEEPS(rtsFuncGetByName(NULL, "kernel_7", &function), 0);
  KEEPS(rtKernelLaunch(function, 1, &block, sizeof block, NULL, stream), 0);
  KEEPS(rtKernelLaunch(NULL, 1, &block, sizeof block, NULL, stream), ACL_ERROR_INVALID_PARAM);
}

static void call_driver(void) {
  void *of_driver = NULL;
  KEEPS(halMemAlloc(&of_driver, kBytes, (unsigned long long)3 << 56 | 1 << 10), 0);
  KEEPS(halMemFree(of_driver), 0);
  KEEPS(halMemFree((void *)16), 3);
}

static void call_atb(void *block) {
  const atbTensor tensors[] = {{block, kBytes / 2}, {(char *)block + kBytes / 2, kBytes / 2}};
  KEEPS(atbExecute("AddOperation", tensors, 2, tensors, 1, NULL, 0, 0, stream), ATB_NO_ERROR);
  KEEPS(atbExecute("AddOperation", tensors, 2, tensors, 1, NULL, 0, 0, NULL), ATB_ERROR_INVALID_PARAM);
  atbSaveTensors(1);
  KEEPS(atbExecute("AddOperation", tensors, 2, tensors, 1, NULL, 0, 0, stream), ATB_NO_ERROR);
  atbSaveTensors(0);
}

static void say_by_mstx(void) {
  errno = kBefore;
  const uint64_t range = mstxRangeStartA("step start", NULL);
  KEEPS((mstxMarkA("mark", stream), 0), 0);
  KEEPS((mstxRangeEnd(range), 0), 0);
}

int main(void) {
  void *block = NULL, *refused = NULL;
  mstxInit();
  if (aclInit(NULL) + aclrtSetDevice(0) + aclrtCreateStream(&stream) != 0)
    return 1;
  aclrtMalloc(&refused, 1, 0); // the first call of the driver may set errno itself
  aclrtFree(refused);
  usleep(kPauseUs);                         // after this pause msleaks queries the used memory again
  KEEPS(aclrtMalloc(&block, kBytes, 0), 0); // watched
  KEEPS(aclrtMalloc(&refused, (size_t)1 << 40, 0), ACL_ERROR_BAD_ALLOC);
  for (int i = 0; i < 2; ++i) {
    call_acl(block);
    call_runtime(block);
    call_driver();
    call_atb(block);
    say_by_mstx();
  }
  KEEPS(aclrtFree((void *)16), ACL_ERROR_INVALID_PARAM);
  KEEPS(aclrtFree(block), 0);
  printf("%d failures\n", failures);
  return failures != 0;
}
