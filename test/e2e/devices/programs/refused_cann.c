// Calls functions of ATB, of the libraries below ACL, and functions of ACL that refused.c does not call. Makes each
// call four times and prints its status. $STANDIN_FAIL selects the refused calls. The fourth call is never refused.
#include "atb.h"

#include <stdint.h>
#include <stdio.h>

enum { kTimes = 4, kBytes = 4096 };

#define FOUR_TIMES(function, call)                                                                                     \
  for (int i = 0; i < kTimes; ++i)                                                                                     \
    printf(#function ": %d\n", call);

static void kernel(const void *arguments, size_t size) { (void)arguments, (void)size; }

int main(void) {
  static char host[kBytes];
  const unsigned long long flag = (unsigned long long)3 << 56 | 1 << 10;
  const struct drv_mem_prop property = {.side = 1, .module_id = 3};
  void *const function = (void *)(uintptr_t)kernel;
  rtArgsEx_t given = {.args = host, .size = 8};
  void *block = NULL, *handle = NULL, *aligned = NULL;
  aclrtStream stream;
  if (aclrtSetDevice(0) + aclrtCreateStream(&stream) != 0)
    return 1;
  FOUR_TIMES(halMemAlloc, halMemAlloc(&block, kBytes, flag))
  FOUR_TIMES(halMemCreate, halMemCreate(&handle, kBytes, &property, 0))
  FOUR_TIMES(aclrtMemcpy2d, aclrtMemcpy2d(block, 64, host, 64, 32, 2, 1))
  FOUR_TIMES(aclrtMemcpy2dAsync, aclrtMemcpy2dAsync(block, 64, host, 64, 32, 2, 1, stream))
  FOUR_TIMES(aclrtMemsetAsync, aclrtMemsetAsync(block, kBytes, 1, kBytes, stream))
  FOUR_TIMES(rtKernelLaunch, rtKernelLaunch(function, 1, host, 8, NULL, stream))
  FOUR_TIMES(rtKernelLaunchWithFlag, rtKernelLaunchWithFlag(function, 1, &given, NULL, stream, 0))
  FOUR_TIMES(rtLaunchKernelByFuncHandleV3, rtLaunchKernelByFuncHandleV3(function, 1, &given, stream, NULL))
  FOUR_TIMES(rtsLaunchKernelWithDevArgs, rtsLaunchKernelWithDevArgs(function, 1, stream, NULL, host, 8, NULL))
  const atbTensor tensor = {block, kBytes};
  FOUR_TIMES(Execute, atbExecute("AddOperation", &tensor, 1, &tensor, 1, NULL, 0, 0, stream))
  FOUR_TIMES(halMemRelease, halMemRelease(handle))
  FOUR_TIMES(halMemFree, halMemFree(block))
  FOUR_TIMES(aclrtMallocAlign32, aclrtMallocAlign32(&aligned, kBytes, 0))
  return aclrtFree(aligned) + aclrtDestroyStream(stream);
}
