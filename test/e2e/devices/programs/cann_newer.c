// Calls functions that Ascend's ACL has since CANN 8.3: allocators and frees, launches, copies, fills, contexts,
// binaries of kernels and models.
#include "acl_newer.h"

#include <stdint.h>
#include <stdio.h>

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

static void *host, *scheduler, *managed, *pooled;

static void allocate(aclrtStream stream) {
  expect(aclrtMallocHostWithCfg(&host, 1001, NULL), "malloc of the host");
  expect(aclrtMallocForTaskScheduler(&scheduler, 1002, 0, NULL), "malloc for the task scheduler");
  expect(aclrtMemAllocManaged(&managed, 1003, 0), "managed");
  expect(aclrtMemPoolMallocAsync(&pooled, 1004, NULL, stream), "malloc from a pool");
}

static void copy(aclrtStream stream) {
  expect(aclrtMemsetD32(scheduler, 1002, 0x07070707, 201), "fill");
  expect(aclrtMemsetD32Async(pooled, 1004, 0x07070707, 202, stream), "fill in order");
  expect(aclrtMemcpyAsyncWithCondition(host, 1001, scheduler, 301, 2, stream), "copy, conditional");
  expect(aclrtMemcpyToSymbol(managed, host, 302, 8, 1), "to a symbol");
  expect(aclrtMemcpyToSymbolAsync(managed, host, 303, 8, 1, stream), "to a symbol, in order");
  expect(aclrtMemcpyFromSymbol(host, 1001, managed, 304, 8, 2), "from a symbol");
  expect(aclrtMemcpyFromSymbolAsync(host, 1001, managed, 305, 8, 2, stream), "from a symbol, in order");
  void *to[2] = {host, host}, *from[2] = {scheduler, pooled};
  size_t most[2] = {1001, 1001}, bytes[2] = {306, 307};
  expect(aclrtMemcpyBatchV2(to, most, from, bytes, 2, NULL, NULL, 0), "copies");
  bytes[0] = 308, bytes[1] = 309;
  expect(aclrtMemcpyBatchAsyncV2(to, most, from, bytes, 2, NULL, NULL, 0, stream), "copies, in order");
  const void *const_from[1] = {scheduler};
  expect(aclrtMemcpyAsyncWithOffset(to, 1001, 8, const_from, 310, 16, 2, stream), "addresses of the device");
  expect(aclrtReduceAsync(pooled, scheduler, 16, 0, 0, stream, NULL), "reduce");
  expect(aclrtValueWrite(scheduler, 1, 0, stream), "write a value");
  expect(aclrtValueWait(scheduler, 1, 0, stream), "wait for a value");
  expect(aclrtMemcpyAsyncWithDesc(NULL, 2, stream), "a description");
  expect(aclrtSynchronizeStream(stream), "wait");
}

static void launch(aclrtStream stream) {
  int value = 7;
  void *arguments[1] = {&value}, *binary, *model;
  expect(aclrtLaunchKernelWithArgsArray((void *)(uintptr_t)count, 401, stream, NULL, arguments), "launch");
  expect(aclrtBinaryLoad(NULL, &binary), "binary");
  expect(aclrtBinaryUnLoad(binary), "unload");
  expect(aclrtBinaryLoadFromFile("kernels.o", NULL, &binary), "binary of a file");
  expect(aclrtBinaryUnLoad(binary), "unload");
  expect(aclrtBinaryLoadFromData("kernels", 7, NULL, &binary), "binary of the memory"); // is not unloaded
  expect(aclmdlRIBuildBegin(&model, 0), "model");
  expect(aclmdlRIDestroy(model), "destroy");
  expect(aclmdlRICaptureEnd(stream, &model), "captured model");
  expect(aclmdlRIExecute(model, -1), "execute");
  expect(aclmdlRIExecuteAsync(model, stream), "execute in order");
  expect(aclmdlRIDestroy(model), "destroy");
  expect(aclrtSynchronizeStream(stream), "wait");
}

static void import(void) {
  void *first, *second;
  expect(aclrtIpcMemImportByKey(&first, "of rank 1", 0), "import");
  expect(aclrtIpcMemClose("exported to rank 1"), "close of exported memory");
  expect(aclrtIpcMemClose("of rank 1"), "close");
  expect(aclrtIpcMemImportByKey(&second, "of rank 2", 0), "import"); // is not closed
  if (aclrtIpcMemImportByKey(&first, "of rank 3", 0) == 0)
    ++failures;
}

int main(void) {
  void *context, *other;
  aclrtStream stream, configured;
  expect(aclrtCreateContext(&context, 1), "context");
  expect(aclrtCreateContext(&other, 0), "context");
  expect(aclrtSetCurrentContext(context), "current context"); // device 1
  expect(aclrtCreateStream(&stream), "stream");
  expect(aclrtCreateStreamV2(&configured, NULL), "configured stream");
  allocate(stream);
  copy(stream);
  launch(stream);
  import();
  expect(aclrtFreeHostWithDevSync(host), "free of the host");
  expect(aclrtFreeWithDevSync(scheduler), "free");
  expect(aclrtFree(managed), "free of managed memory");
  expect(aclrtMemPoolFreeAsync(pooled, stream), "free in order");
  expect(aclrtDestroyStream(configured), "stream");
  expect(aclrtDestroyStream(stream), "stream");
  expect(aclrtDestroyContext(context), "context");
  expect(aclrtDestroyContext(other), "context");
  printf("%d launched, %d failures\n", launched, failures);
  return failures != 0;
}
