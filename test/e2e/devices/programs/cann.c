// Imitates a training on two NPUs. A stand-in replaces Ascend's libraries. The program leaks a block in each step. A
// vendor library allocates memory from the driver. Some calls are refused. With "mended" the program frees all blocks.
#include "acl.h"

#include <msleaks/api.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kSteps = 5, kWeights = 1 << 20, kActivations = 1 << 18, kForgotten = 8192, kElements = 256, kBuffer = 1 << 19 };

static int mended, failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

struct add {
  float *values;
  int count;
};

// This function is the kernel: the driver's stand-in calls it at each launch.
static void add_one(const void *arguments, size_t size) {
  const struct add *to = arguments;
  for (int i = 0; size == sizeof *to && i < to->count; ++i)
    to->values[i] += 1;
}

int main(int argc, char **argv) {
  void *weights, *buffer = NULL, *pinned;
  float host[kElements] = {0};
  aclrtStream stream;
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  expect(aclInit(NULL), 0, "init");
  expect(aclrtSetDevice(1), 0, "device");
  expect(aclrtCreateStream(&stream), 0, "stream");
  expect(aclrtMalloc(&weights, kWeights, 0), 0, "weights"); // freed at the end
  expect(aclrtMallocHost(&pinned, 4096), 0, "pinned");
  expect(hcclBuffer(0, &buffer, kBuffer), 0, "buffer of another library");
  expect(aclrtMemcpy(weights, kWeights, host, sizeof host, 1), 0, "copy to the device");
  for (int step = 0; step < kSteps; ++step) {
    void *activations, *forgotten;
    const struct add arguments = {weights, kElements};
    msl_step((uint64_t)step);
    expect(aclrtMalloc(&activations, kActivations, 0), 0, "activations");
    expect(aclrtMalloc(&forgotten, kForgotten, 0), 0, "forgotten"); // forgotten
    expect(aclrtMemset(activations, kActivations, 0, kActivations), 0, "fill");
    expect(aclrtLaunchKernel((aclrtFuncHandle)(uintptr_t)add_one, 4, &arguments, sizeof arguments, stream), 0,
           "launch");
    expect(aclrtFree(activations), 0, "free of the activations");
    if (mended)
      expect(aclrtFree(forgotten), 0, "free");
  }
  expect(aclrtSynchronizeStream(stream), 0, "wait");
  expect(aclrtMemcpy(host, sizeof host, weights, sizeof host, 2), 0, "copy to the host");
  printf("the last element is %.0f\n", host[kElements - 1]);
  expect(aclrtMemcpy2d(host, 64, weights, 128, 32, 4, 2), 0, "rows to the host");
  expect(aclrtMemcpy2dAsync(weights, 128, host, 64, 48, 3, 1, stream), 0, "rows to the device");
  expect(aclrtSynchronizeStream(stream), 0, "wait for the rows");
  expect(aclrtMemcpy2d(host, 64, weights, 128, 65, 4, 2), ACL_ERROR_INVALID_PARAM, "rows longer than their distance");
  expect(aclrtMalloc(&buffer, 0, 0), ACL_ERROR_INVALID_PARAM, "nothing");
  void *refused;
  expect(aclrtMalloc(&refused, (size_t)1 << 40, 0), ACL_ERROR_BAD_ALLOC, "too much");
  expect(aclrtSetDevice(9), ACL_ERROR_RT_DEVICE, "a device that is not there");
  expect(aclrtFree((void *)16), ACL_ERROR_INVALID_PARAM, "free of no block");
  expect(aclrtFreeHost(pinned), 0, "free of pinned memory");
  static char table[4096];
  expect(aclrtHostRegister(table, sizeof table, 0, &refused), 0, "registered");
  expect(aclrtHostRegisterV2(table, sizeof table, 0x10000000), ACL_ERROR_INVALID_PARAM, "registered once more");
  expect(aclrtHostUnregister(table), 0, "registered no longer");
  expect(aclrtHostRegisterV2(table, sizeof table, 0x10000000), 0, "pinned");
  expect(aclrtHostUnregister(table), 0, "pinned no longer");
  expect(aclrtHostUnregister(table), ACL_ERROR_INVALID_PARAM, "pinned no longer, once more");
  if (mended)
    expect(halMemFree(buffer), 0, "free of the buffer");
  expect(aclrtFree(weights), 0, "free of the weights");
  expect(aclrtDestroyStream(stream), 0, "end of the stream");
  expect(aclFinalize(), 0, "finalize");
  printf("%d failures\n", failures);
  return failures != 0;
}
