// A library that the linker finds before OpenCL. It refuses a call that msleaks makes for a counted copy. $REFUSED is
// the call: `kernel`, `argument`, `counters` or `launch`. A forked child exits with 9 if it flushes or releases.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char kCopy[] = "__msl_counted_";

static int isRefused(const char *what) {
  const char *refused = getenv("REFUSED");
  return refused != NULL && strcmp(refused, what) == 0;
}

static int isCopy(void *kernel) {
  typedef int (*Ask)(void *, unsigned, size_t, void *, size_t *);
  enum { kFunctionName = 0x1190 };
  char name[256] = "";
  ((Ask)dlsym(RTLD_NEXT, "clGetKernelInfo"))(kernel, kFunctionName, sizeof name, name, NULL);
  return strncmp(name, kCopy, sizeof kCopy - 1) == 0;
}

void *clCreateKernel(void *program, const char *name, int *status) {
  enum { kInvalidName = -46 };
  if (isRefused("kernel") && strncmp(name, kCopy, sizeof kCopy - 1) == 0) {
    *status = kInvalidName;
    return NULL;
  }
  typedef void *(*Create)(void *, const char *, int *);
  return ((Create)dlsym(RTLD_NEXT, "clCreateKernel"))(program, name, status);
}

int clSetKernelArg(void *kernel, unsigned index, size_t bytes, const void *value) {
  enum { kInvalidValue = -50, kCounters = 2 }; // the buffer of counters is argument 2, after collatz' own arguments
  if (isRefused(index == kCounters ? "counters" : "argument") && isCopy(kernel))
    return kInvalidValue;
  typedef int (*Set)(void *, unsigned, size_t, const void *);
  return ((Set)dlsym(RTLD_NEXT, "clSetKernelArg"))(kernel, index, bytes, value);
}

int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dimensions, const size_t *offset, const size_t *global,
                           const size_t *local, unsigned waits, const void *wait_for, void *event) {
  enum { kOutOfResources = -5 };
  if (isRefused("launch") && isCopy(kernel))
    return kOutOfResources;
  typedef int (*Launch)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
                        const void *, void *);
  return ((Launch)dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel"))(queue, kernel, dimensions, offset, global, local, waits,
                                                              wait_for, event);
}

static int first_pid;
__attribute__((constructor)) static void noteProcess(void) { first_pid = getpid(); }

static void *inFirstProcess(const char *name) {
  enum { kCalledInChild = 9 };
  if (getpid() != first_pid)
    _exit(kCalledInChild);
  return dlsym(RTLD_NEXT, name);
}

#define RELEASE(name)                                                                                                  \
  int name(void *what) { return ((int (*)(void *))inFirstProcess(#name))(what); }
RELEASE(clFlush)
RELEASE(clReleaseEvent)
RELEASE(clReleaseMemObject)
RELEASE(clReleaseCommandQueue)
RELEASE(clReleaseKernel)

int clGetEventInfo(void *event, unsigned what, size_t bytes, void *to, size_t *wanted) {
  typedef int (*Ask)(void *, unsigned, size_t, void *, size_t *);
  return ((Ask)inFirstProcess("clGetEventInfo"))(event, what, bytes, to, wanted);
}
