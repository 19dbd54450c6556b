// Launches kernels by each launch function of Ascend's ACL, and of the runtime below ACL. The folder
// $BINARIES contains binaries for a device: one.o has one kernel, many.o has several kernels.
#include "acl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, launched;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

// The stand-in finds these kernels by name. Each has a static variable, so the compiler does not merge their code.
#define KERNEL(name)                                                                                                   \
  void name(const void *arguments, size_t size) {                                                                      \
    static int count;                                                                                                  \
    ++count;                                                                                                           \
    launched += size == sizeof(int) && *(const int *)arguments == 7;                                                   \
  }
KERNEL(by_name)
KERNEL(kernel_12)
KERNEL(nameless)
KERNEL(host_arguments)
KERNEL(stub)
KERNEL(flagged)
KERNEL(vector)
KERNEL(rts_by_name)
KERNEL(kernel_21)
KERNEL(binary_by_name)
KERNEL(kernel_23)

static aclrtFuncHandle named(const char *name) {
  aclrtFuncHandle function = NULL;
  expect(aclrtBinaryGetFunction(NULL, name, &function), 0, name);
  return function;
}

static void *registered(const char *file, int (*how)(const rtDevBinary_t *, void **)) {
  static char bytes[1 << 16];
  char path[4096];
  void *handle = NULL;
  snprintf(path, sizeof path, "%s/%s", getenv("BINARIES"), file);
  FILE *stream = fopen(path, "rb");
  const rtDevBinary_t binary = {0x43554245, 0, bytes, stream != NULL ? fread(bytes, 1, sizeof bytes, stream) : 0};
  fclose(stream);
  expect(how(&binary, &handle), 0, file);
  return handle;
}

static void launch_by_acl(aclrtStream stream) {
  int value = 7;
  rtArgsEx_t given = {.args = &value, .size = sizeof value};
  aclrtFuncHandle entry = NULL;
  expect(aclrtBinaryGetFunctionByEntry(NULL, 12, &entry), 0, "by entry");
  expect(aclrtLaunchKernel(named("by_name"), 1, &value, sizeof value, stream), 0, "ACL");
  expect(aclrtLaunchKernelV2(entry, 2, &value, sizeof value, NULL, stream), 0, "V2");
  expect(aclrtLaunchKernelWithConfig((aclrtFuncHandle)(uintptr_t)nameless, 3, stream, NULL, &given, NULL), 0, "config");
  expect(aclrtLaunchKernelWithHostArgs(named("host_arguments"), 4, stream, NULL, &value, sizeof value, NULL, 0), 0,
         "host arguments");
}

static void launch_by_runtime(aclrtStream stream) {
  int value = 7;
  rtArgsEx_t given = {.args = &value, .size = sizeof value};
  char name[16] = "TopK";
  void *const one = registered("one.o", rtDevBinaryRegister), *const many = registered("many.o", rtRegisterAllKernel);
  expect(rtFunctionRegister(one, (void *)(uintptr_t)stub, "MatMul__kernel0", NULL, 0), 0, "a stub");
  expect(rtKernelLaunch((void *)(uintptr_t)stub, 5, &value, sizeof value, NULL, stream), 0, "stub");
  expect(rtKernelLaunchWithFlag((void *)(uintptr_t)flagged, 6, &given, NULL, stream, 0), 0, "flag");
  expect(rtVectorCoreKernelLaunch((void *)(uintptr_t)vector, 7, &given, NULL, stream, 0, NULL), 0, "vector");
  expect(rtLaunchKernelByFuncHandle(named("by_name"), 8, &given, stream), 0, "function");
  expect(rtLaunchKernelByFuncHandleV2(named("by_name"), 9, &given, stream, NULL), 0, "function V2");
  expect(rtLaunchKernelByFuncHandleV3(named("by_name"), 10, &given, stream, NULL), 0, "function V3");
  expect(rtsLaunchKernelWithConfig(named("by_name"), 11, stream, NULL, &given, NULL), 0, "rts config");
  expect(rtsLaunchKernelWithDevArgs(named("by_name"), 12, stream, NULL, &value, sizeof value, NULL), 0, "rts device");
  expect(rtsLaunchKernelWithHostArgs(named("by_name"), 13, stream, NULL, &value, sizeof value, NULL, 0), 0, "rts host");
  standinRuns(one, stub);
  standinRuns(many, stub);
  standinRuns(NULL, stub);
  expect(rtKernelLaunchWithHandle(one, 0, 14, &given, NULL, stream, NULL), 0, "one");
  expect(rtVectorCoreKernelLaunchWithHandle(many, 2, 15, &given, NULL, stream, NULL), 0, "many");
  expect(rtAicpuKernelLaunchExWithArgs(2, name, 16, &given, NULL, stream, 0), 0, "AICPU");
  strcpy(name, "Cast");
  expect(rtAicpuKernelLaunchExWithArgs(2, name, 17, &given, NULL, stream, 0), 0, "AICPU again");
  expect(rtKernelLaunchWithFlagV2((void *)(uintptr_t)stub, 18, &given, NULL, stream, 0, NULL), 0, "flag V2");
  expect(rtKernelLaunchWithHandleV2(many, 2, 19, &given, NULL, stream, NULL), 0, "many V2");
}

// Launches kernels by handles. A hook sees the names of two kernels, and asks the library for those of the other two.
static void launch_by_handles(aclrtStream stream) {
  int value = 7;
  rtArgsEx_t given = {.args = &value, .size = sizeof value};
  void *functions[4] = {0};
  expect(rtsFuncGetByName(NULL, "rts_by_name", &functions[0]), 0, "rts, by name");
  expect(rtsFuncGetByEntry(NULL, 21, &functions[1]), 0, "rts, by entry");
  expect(rtBinaryGetFunctionByName(NULL, "binary_by_name", &functions[2]), 0, "by name");
  expect(rtBinaryGetFunction(NULL, 23, &functions[3]), 0, "by key");
  for (uint32_t i = 0; i < 4; ++i)
    expect(rtLaunchKernelByFuncHandle(functions[i], 20 + i, &given, stream), 0, "handle");
}

int main(void) {
  aclrtStream stream;
  void *block = NULL;
  expect(aclInit(NULL), 0, "init");
  expect(aclrtSetDevice(1), 0, "device");
  expect(aclrtCreateStream(&stream), 0, "stream");
  expect(aclrtMalloc(&block, 4321, 0), 0, "malloc");
  launch_by_acl(stream);
  launch_by_runtime(stream);
  launch_by_handles(stream);
  expect(rtLaunchKernelByFuncHandleV3(NULL, 1, NULL, stream, NULL), ACL_ERROR_INVALID_PARAM, "nothing");
  expect(aclrtFree(block), 0, "free");
  printf("%d launched, %d failures\n", launched, failures);
  return failures != 0;
}
