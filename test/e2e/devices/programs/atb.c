// Runs an operator of Ascend's library ATB in three steps. The operator reads weights, writes an output, and uses a
// workspace. A second output buffer stays unused. With "save" ATB saves its tensors. With "stray" the operator writes
// past its output in step 2. With "strange" the first operator gets invalid arguments.
#include "atb.h"

#include <msleaks/api.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kTensor = 1 << 20, kSteps = 3, kMany = 70, kLongName = 5000, kStray = 16 };

static int failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

static void *block(const char *what) {
  void *made = NULL;
  expect(aclrtMalloc(&made, kTensor, 0), 0, what);
  return made;
}

// Runs an operator with many tensors, one with a long name, and one without a stream. The last one fails.
static void run_odd_operators(const atbTensor *in, const atbTensor *out, aclrtStream stream) {
  static char name[kLongName + 1];
  atbTensor many[kMany];
  memset(name, 'n', kLongName);
  for (int i = 0; i < kMany; ++i)
    many[i] = in[i % 2];
  expect(atbExecute("ManyOperation", many, kMany, out, 1, NULL, 0, 0, stream), ATB_NO_ERROR, "many tensors");
  expect(atbExecute(name, in, 2, out, 1, NULL, 0, 0, stream), ATB_NO_ERROR, "a long name");
  expect(atbExecute("FailingOperation", in, 2, out, 1, NULL, 0, 0, NULL), ATB_ERROR_INVALID_PARAM, "without a stream");
}

int main(int argc, char **argv) {
  const char *option = argc > 1 ? argv[1] : "";
  aclrtStream stream;
  float host[2] = {0};
  expect(aclInit(NULL), 0, "init");
  expect(aclrtSetDevice(1), 0, "device");
  expect(aclrtCreateStream(&stream), 0, "stream");
  void *const input = block("input"), *const output = block("output");
  void *const weights = block("weights"); // this block follows the output block in memory
  void *const workspace = block("workspace");
  void *spare = NULL;
  expect(aclrtMalloc(&spare, kTensor, 0), 0, "an output"); // spare
  const atbTensor in[] = {{input, kTensor}, {weights, kTensor}}, out[] = {{output, kTensor}};
  expect(aclrtMemset(input, kTensor, 0, kTensor), 0, "input");
  expect(aclrtMemset(weights, kTensor, 0, kTensor), 0, "weights");
  if (strcmp(option, "strange") == 0)
    expect(atbExecuteStrange(), ATB_ERROR_INVALID_PARAM, "a strange operator");
  atbSaveTensors(strcmp(option, "save") == 0);
  msl_watch(weights, 4096, "weights");
  msl_watch(output, 4096, "output");
  for (uint64_t step = 1; step <= kSteps; ++step) {
    const size_t stray = step == 2 && strcmp(option, "stray") == 0
                             ? (size_t)((char *)weights - (char *)output) - sizeof(float) + kStray
                             : 0;
    msl_step(step);
    host[0] = (float)step;
    expect(aclrtMemcpy(input, kTensor, host, sizeof host[0], 1), 0, "copy to the device");
    expect(atbExecute("LinearOperation", in, 2, out, 1, workspace, kTensor, stray, stream), ATB_NO_ERROR, "linear");
  }
  msl_unwatch(weights);
  msl_unwatch(output);
  run_odd_operators(in, out, stream);
  expect(aclrtSynchronizeStream(stream), 0, "wait");
  expect(aclrtMemcpy(host, sizeof host[0], output, sizeof host[0], 2), 0, "copy to the host");
  printf("the sum is %.0f, %d tensors saved\n", host[0], atbSaveTensors(0));
  void *const all[] = {input, output, weights, workspace, spare};
  for (int i = 0; i < 5; ++i)
    expect(aclrtFree(all[i]), 0, "free");
  expect(aclrtDestroyStream(stream), 0, "end of the stream");
  printf("%d failures\n", failures);
  return failures != 0;
}
