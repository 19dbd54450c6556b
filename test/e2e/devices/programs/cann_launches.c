// Launches a kernel by each function of ACL and of the runtime below it, each once; with "layers", where ACL has a
// layer below its face, by that alone, too. $BINARIES is a folder with binaries of a device: one.o has one kernel,
// many.o has a few of one.
#include "acl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern aclError below_malloc(void **, size_t, int) __asm__("aclrtMallocImpl") __attribute__((weak));
extern aclError below_free(void *) __asm__("aclrtFreeImpl") __attribute__((weak));
extern aclError below_set(void *, size_t, int32_t, size_t) __asm__("aclrtMemsetImpl") __attribute__((weak));
extern aclError below_copy(void *, size_t, const void *, size_t, int) __asm__("aclrtMemcpyImpl") __attribute__((weak));
extern aclError below_launch(aclrtFuncHandle, uint32_t, const void *, size_t, aclrtStream)
    __asm__("aclrtLaunchKernelImpl") __attribute__((weak));

static int failures, launched;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

// On the device. Found by their names, and none is like another one.
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
KERNEL(below)

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
}

// As a library of the vendor's does it, past ACL.
static void call_below(aclrtStream stream) {
  int value = 7;
  void *block = NULL;
  expect(below_malloc(&block, 12345, 0), 0, "malloc below");
  expect(below_set(block, 12345, 0, 12345), 0, "fill below");
  expect(below_copy(block, 12345, &value, sizeof value, 1), 0, "copy below");
  expect(below_launch((aclrtFuncHandle)(uintptr_t)below, 18, &value, sizeof value, stream), 0, "launch below");
  expect(below_free(block), 0, "free below");
}

int main(int argc, char **argv) {
  aclrtStream stream;
  void *block = NULL;
  expect(aclInit(NULL), 0, "init");
  expect(aclrtSetDevice(1), 0, "device");
  expect(aclrtCreateStream(&stream), 0, "stream");
  expect(aclrtMalloc(&block, 4321, 0), 0, "malloc");
  launch_by_acl(stream);
  launch_by_runtime(stream);
  if (argc > 1 && strcmp(argv[1], "layers") == 0)
    call_below(stream);
  expect(rtLaunchKernelByFuncHandleV3(NULL, 1, NULL, stream, NULL), ACL_ERROR_INVALID_PARAM, "nothing");
  expect(aclrtFree(block), 0, "free");
  printf("%d launched, %d failures\n", launched, failures);
  return failures != 0;
}
