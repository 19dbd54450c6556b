// Calls each function of Ascend's ACL that chooses a device, allocates, copies, fills, frees or launches, on
// device 1. With "layers" it also calls these functions of the library below ACL, on device 0, as vendor libraries do.
#include "acl.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#pragma weak aclrtSetDeviceImpl
#pragma weak aclrtMallocImpl
#pragma weak aclrtMallocAlign32Impl
#pragma weak aclrtMallocCachedImpl
#pragma weak aclrtMallocWithCfgImpl
#pragma weak aclrtMallocHostImpl
#pragma weak aclrtFreeImpl
#pragma weak aclrtFreeHostImpl
#pragma weak aclrtMemcpyImpl
#pragma weak aclrtMemcpyAsyncImpl
#pragma weak aclrtMemcpy2dImpl
#pragma weak aclrtMemcpy2dAsyncImpl
#pragma weak aclrtMemcpyBatchImpl
#pragma weak aclrtMemcpyBatchAsyncImpl
#pragma weak aclrtMemsetImpl
#pragma weak aclrtMemsetAsyncImpl
#pragma weak aclrtLaunchKernelImpl
#pragma weak aclrtLaunchKernelV2Impl
#pragma weak aclrtLaunchKernelWithConfigImpl
#pragma weak aclrtLaunchKernelWithHostArgsImpl

static int failures, launched;

static void expect(int status, const char *what) {
  if (status != 0) {
    printf("%s: %d\n", what, status);
    ++failures;
  }
}

// This function is the kernel: the driver's stand-in calls it at each launch.
static void count(const void *arguments, size_t size) {
  launched += size == sizeof(int) && *(const int *)arguments == 7;
}

// The sizes count up from `first`, so that the size of a block identifies the call that allocated it.
#define CALLS(name, suffix)                                                                                            \
  static void name(int32_t device, uint32_t first, aclrtStream stream) {                                               \
    int value = 7;                                                                                                     \
    rtArgsEx_t given = {.args = &value, .size = sizeof value};                                                         \
    const aclrtFuncHandle kernel = (aclrtFuncHandle)(uintptr_t)count;                                                  \
    void *blocks[4] = {0}, *host = NULL;                                                                               \
    expect(aclrtSetDevice##suffix(device), "device");                                                                  \
    expect(aclrtMalloc##suffix(&blocks[0], first, 0), "malloc");                                                       \
    expect(aclrtMallocAlign32##suffix(&blocks[1], first + 1, 0), "malloc, aligned");                                   \
    expect(aclrtMallocCached##suffix(&blocks[2], first + 2, 0), "malloc, cached");                                     \
    expect(aclrtMallocWithCfg##suffix(&blocks[3], first + 3, 0, NULL), "malloc with a configuration");                 \
    expect(aclrtMallocHost##suffix(&host, first + 4), "malloc of the host");                                           \
    expect(aclrtMemset##suffix(blocks[0], first, 1, first - 1), "fill");                                               \
    expect(aclrtMemsetAsync##suffix(blocks[1], first, 2, first - 2, stream), "fill in order");                         \
    expect(aclrtMemcpy##suffix(host, first, blocks[0], first - 3, 2), "copy");                                         \
    expect(aclrtMemcpyAsync##suffix(host, first, blocks[1], first - 4, 2, stream), "copy in order");                   \
    expect(aclrtMemcpy2d##suffix(host, first / 5, blocks[0], first / 5, (first - 5) / 5, 5, 2), "rows");               \
    expect(aclrtMemcpy2dAsync##suffix(host, first / 2, blocks[1], first / 2, (first - 6) / 2, 2, 2, stream),           \
           "rows in order");                                                                                           \
    void *to[2] = {host, host}, *from[2] = {blocks[0], blocks[1]};                                                     \
    size_t most[2] = {first, first}, bytes[2] = {first - 7, first - 9}, failed = 0;                                    \
    expect(aclrtMemcpyBatch##suffix(to, most, from, bytes, 2, NULL, NULL, 0, &failed), "copies");                      \
    --bytes[0], --bytes[1];                                                                                            \
    expect(aclrtMemcpyBatchAsync##suffix(to, most, from, bytes, 2, NULL, NULL, 0, &failed, stream), "copies in order");\
    expect(aclrtSynchronizeStream(stream), "wait");                                                                    \
    printf("%d\n", ((char *)host)[0]);                                                                                 \
    expect(aclrtLaunchKernel##suffix(kernel, first + 1, &value, sizeof value, stream), "launch");                      \
    expect(aclrtLaunchKernelV2##suffix(kernel, first + 2, &value, sizeof value, NULL, stream), "launch V2");           \
    expect(aclrtLaunchKernelWithConfig##suffix(kernel, first + 3, stream, NULL, &given, NULL), "launch, configured");  \
    expect(aclrtLaunchKernelWithHostArgs##suffix(kernel, first + 4, stream, NULL, &value, sizeof value, NULL, 0),      \
           "launch, arguments of the host");                                                                           \
    for (int i = 0; i < 4; ++i)                                                                                        \
      expect(aclrtFree##suffix(blocks[i]), "free");                                                                    \
    expect(aclrtFreeHost##suffix(host), "free of the host");                                                           \
  }
CALLS(call_face, )
CALLS(call_below, Impl)

int main(int argc, char **argv) {
  aclrtStream stream;
  expect(aclInit(NULL), "init");
  expect(aclrtCreateStream(&stream), "stream");
  call_face(1, 1000, stream);
  if (argc > 1 && strcmp(argv[1], "layers") == 0)
    call_below(0, 2000, stream);
  expect(aclFinalize(), "finalize");
  printf("%d launched, %d failures\n", launched, failures);
  return failures != 0;
}
