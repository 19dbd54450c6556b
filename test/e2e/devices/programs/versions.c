// Two versions of a training that launches kernels. `versions old` is the first one. `versions new` launches one kernel
// more in each step, keeps a block in step 3, and needs a larger workspace for `matmul`.
// Runs on the stand-in of Ascend CANN.
#include "acl.h"

#include <msleaks/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kKib = 1 << 10, kSteps = 4 };

static int launched;

static void must(int status, const char *what) {
  if (status != 0) {
    printf("%s: %d\n", what, status);
    exit(1);
  }
}

// The stand-in finds these kernels by name. Each has a static variable, so the compiler does not merge their code.
#define KERNEL(name)                                                                                                   \
  void name(const void *arguments, size_t size) {                                                                      \
    static int count;                                                                                                  \
    ++count;                                                                                                           \
    launched += arguments != NULL && size != 0;                                                                        \
  }
KERNEL(matmul)
KERNEL(relu)
KERNEL(norm)

static aclrtStream stream;

static void launch(const char *name) {
  aclrtFuncHandle kernel = NULL;
  const int value = 7;
  must(aclrtBinaryGetFunction(NULL, name, &kernel), name);
  must(aclrtLaunchKernel(kernel, 1, &value, sizeof value, stream), name);
}

static void *take(size_t bytes) {
  void *block = NULL;
  must(aclrtMalloc(&block, bytes, 0), "malloc");
  return block;
}

int main(int count, char **arguments) {
  const int is_new = count > 1 && strcmp(arguments[1], "new") == 0;
  must(aclInit(NULL), "init");
  must(aclrtSetDevice(0), "device");
  must(aclrtCreateStream(&stream), "stream");
  void *weights = take(1024 * kKib), *kept = NULL;
  for (int step = 1; step <= kSteps; ++step) {
    msl_range_push("step");
    launch("matmul");
    void *workspace = take((is_new ? 96 : 64) * kKib);
    launch("relu");
    must(aclrtFree(workspace), "free");
    if (is_new && step == 3)
      kept = take(512 * kKib);
    if (is_new)
      launch("norm");
    msl_range_pop();
  }
  must(aclrtFree(weights), "free");
  if (kept != NULL)
    must(aclrtFree(kept), "free");
  printf("%d launches\n", launched);
  return 0;
}
