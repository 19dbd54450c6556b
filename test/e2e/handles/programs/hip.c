// Creates handles of HIP and hipFFT. Each MAKE creates two objects and destroys one, or both with `mended`.
// A comment names the handle that stays open. Refused calls must not change the count of handles.
// clang-format off: a call and its comment must be in one line
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int hipStreamCreate(void **);
int hipEventCreate(void **);
int hipStreamCreateWithFlags(void **, unsigned);
int hipStreamCreateWithPriority(void **, unsigned, int);
int hipEventCreateWithFlags(void **, unsigned);
int hipStreamDestroy(void *);
int hipEventDestroy(void *);
int hipGraphDestroy(void *);
int hipGraphExecDestroy(void *);
int hipGraphCreate(void **, unsigned);
int hipGraphClone(void **, void *);
int hipStreamEndCapture(void *, void **);
int hipStreamEndCapture_spt(void *, void **);
int hipGraphInstantiate(void **, void *, void *, void *, size_t);
int hipGraphInstantiateWithFlags(void **, void *, unsigned long long);
int hipGraphInstantiateWithParams(void **, void *, void *);
int hipCtxCreate(void **, unsigned, int);
int hipCtxDestroy(void *);
int hipModuleLoad(void **, const char *);
int hipModuleLoadData(void **, const void *);
int hipModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
int hipModuleUnload(void *);
typedef void * Plan;
int hipfftCreate(Plan *);
int hipfftPlan1d(Plan *, int, int, int);
int hipfftPlan2d(Plan *, int, int, int);
int hipfftPlan3d(Plan *, int, int, int, int);
int hipfftPlanMany(Plan *, int, int *, int *, int, int, int *, int, int, int, int);
int hipfftDestroy(Plan);

static int mended, failures;

static void expect(int right, const char *what) {
  if (!right) {
    printf("%s\n", what);
    ++failures;
  }
}

// Creates two objects of a kind and leaves the second one open, except with `mended`.
#define MAKE(Type, create, destroy, ...)                                                                               \
  do {                                                                                                                 \
    Type one = (Type)0; Type two = (Type)0;                                                                               \
    expect(create(&one __VA_ARGS__) == 0 && create(&two __VA_ARGS__) == 0, #create);                                   \
    expect(one != two, #create " makes one twice");                                                                    \
    expect(destroy(one) == 0, #destroy);                                                                               \
    expect(destroy(one) != 0, #destroy " of none");                                                                    \
    if (mended)                                                                                                        \
      expect(destroy(two) == 0, #destroy " of the second");                                                            \
  } while (0)
#define WITH ,

int main(int argc, char **argv) {
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  MAKE(void *, hipStreamCreate, hipStreamDestroy); // forgets stream 1
  MAKE(void *, hipStreamCreateWithFlags, hipStreamDestroy, WITH 1); // forgets stream 1
  MAKE(void *, hipStreamCreateWithPriority, hipStreamDestroy, WITH 1 WITH 2); // forgets stream 1
  MAKE(void *, hipEventCreate, hipEventDestroy); // forgets event 1
  MAKE(void *, hipEventCreateWithFlags, hipEventDestroy, WITH 2); // forgets event 1
  void *graph = NULL, *captured = NULL;
  expect(hipGraphCreate(NULL, 0) != 0, "a graph nowhere");
  expect(hipGraphCreate(&graph, 0) == 0, "a graph");
  MAKE(void *, hipGraphCreate, hipGraphDestroy, WITH 0); // forgets graph 1
  MAKE(void *, hipGraphClone, hipGraphDestroy, WITH graph); // forgets graph 1
  MAKE(void *, hipGraphInstantiate, hipGraphExecDestroy, WITH graph WITH NULL WITH NULL WITH 0); // forgets graph 1
  MAKE(void *, hipGraphInstantiateWithFlags, hipGraphExecDestroy, WITH graph WITH 0); // forgets graph 1
  MAKE(void *, hipGraphInstantiateWithParams, hipGraphExecDestroy, WITH graph WITH NULL); // forgets graph 1
  expect(hipStreamEndCapture(NULL, &captured) == 0, "a capture"); // forgets graph 1
  if (mended)
    hipGraphDestroy(captured);
  expect(hipStreamEndCapture_spt(NULL, &captured) == 0, "a capture"); // forgets graph 1
  if (mended)
    hipGraphDestroy(captured);
  hipGraphDestroy(graph);
  MAKE(void *, hipCtxCreate, hipCtxDestroy, WITH 0 WITH 0); // forgets context 1
  MAKE(void *, hipModuleLoad, hipModuleUnload, WITH "name"); // forgets module 1
  MAKE(void *, hipModuleLoadData, hipModuleUnload, WITH "code"); // forgets module 1
  MAKE(void *, hipModuleLoadDataEx, hipModuleUnload, WITH "code" WITH 0 WITH NULL WITH NULL); // forgets module 1
  MAKE(Plan, hipfftCreate, hipfftDestroy); // forgets plan 1
  MAKE(Plan, hipfftPlan1d, hipfftDestroy, WITH 8 WITH 0 WITH 1); // forgets plan 1
  MAKE(Plan, hipfftPlan2d, hipfftDestroy, WITH 8 WITH 8 WITH 0); // forgets plan 1
  MAKE(Plan, hipfftPlan3d, hipfftDestroy, WITH 8 WITH 8 WITH 8 WITH 0); // forgets plan 1
  int sizes[] = {8};
  MAKE(Plan, hipfftPlanMany, hipfftDestroy, WITH 1 WITH sizes WITH sizes WITH 1 WITH 8 WITH sizes WITH 1 WITH 8 WITH 0 WITH 1); // forgets plan 1
  Plan refused = (Plan)77;
  expect(hipfftPlan1d(&refused, 0, 0, 1) != 0, "a plan of nothing");
  printf("%d failures\n", failures);
  return failures != 0;
}
