// Creates handles of CUDA's runtime library, its driver and cuFFT. Each MAKE creates two objects and destroys one, or
// both with `mended`. A comment names the handle that stays open. Refused calls must not change the count of handles.
// clang-format off: a call and its comment must be in one line
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cudaStreamCreate(void **);
int cudaEventCreate(void **);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamCreateWithPriority(void **, unsigned, int);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaStreamDestroy(void *);
int cudaEventDestroy(void *);
int cudaGraphDestroy(void *);
int cudaGraphExecDestroy(void *);
int cudaGraphCreate(void **, unsigned);
int cudaGraphClone(void **, void *);
int cudaStreamEndCapture(void *, void **);
int cudaStreamEndCapture_ptsz(void *, void **);
int cudaGraphInstantiate(void **, void *, void *, void *, size_t);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaGraphInstantiateWithParams(void **, void *, void *);
int cudaGraphInstantiateWithParams_ptsz(void **, void *, void *);
int cuStreamCreate(void **, unsigned);
int cuStreamCreateWithPriority(void **, unsigned, int);
int cuStreamDestroy_v2(void *);
int cuEventCreate(void **, unsigned);
int cuEventDestroy_v2(void *);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxCreate_v3(void **, void *, int, unsigned, int);
int cuCtxCreate_v4(void **, void *, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuModuleLoad(void **, const char *);
int cuModuleLoadData(void **, const void *);
int cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
int cuModuleLoadFatBinary(void **, const void *);
int cuModuleUnload(void *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryUnload(void *);
int cuGraphCreate(void **, unsigned);
int cuGraphClone(void **, void *);
int cuStreamEndCapture(void *, void **);
int cuStreamEndCapture_ptsz(void *, void **);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphInstantiateWithParams(void **, void *, void *);
int cuGraphInstantiateWithParams_ptsz(void **, void *, void *);
int cuGraphDestroy(void *);
int cuGraphExecDestroy(void *);
typedef int Plan;
int cufftCreate(Plan *);
int cufftPlan1d(Plan *, int, int, int);
int cufftPlan2d(Plan *, int, int, int);
int cufftPlan3d(Plan *, int, int, int, int);
int cufftPlanMany(Plan *, int, int *, int *, int, int, int *, int, int, int, int);
int cufftDestroy(Plan);

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
  MAKE(void *, cudaStreamCreate, cudaStreamDestroy); // forgets stream 1
  MAKE(void *, cudaStreamCreateWithFlags, cudaStreamDestroy, WITH 1); // forgets stream 1
  MAKE(void *, cudaStreamCreateWithPriority, cudaStreamDestroy, WITH 1 WITH 2); // forgets stream 1
  MAKE(void *, cudaEventCreate, cudaEventDestroy); // forgets event 1
  MAKE(void *, cudaEventCreateWithFlags, cudaEventDestroy, WITH 2); // forgets event 1
  void *graph = NULL, *captured = NULL;
  expect(cudaGraphCreate(NULL, 0) != 0, "a graph nowhere");
  expect(cudaGraphCreate(&graph, 0) == 0, "a graph");
  MAKE(void *, cudaGraphCreate, cudaGraphDestroy, WITH 0); // forgets graph 1
  MAKE(void *, cudaGraphClone, cudaGraphDestroy, WITH graph); // forgets graph 1
  MAKE(void *, cudaGraphInstantiate, cudaGraphExecDestroy, WITH graph WITH NULL WITH NULL WITH 0); // forgets graph 1
  MAKE(void *, cudaGraphInstantiateWithFlags, cudaGraphExecDestroy, WITH graph WITH 0); // forgets graph 1
  MAKE(void *, cudaGraphInstantiateWithParams, cudaGraphExecDestroy, WITH graph WITH NULL); // forgets graph 1
  MAKE(void *, cudaGraphInstantiateWithParams_ptsz, cudaGraphExecDestroy, WITH graph WITH NULL); // forgets graph 1
  expect(cudaStreamEndCapture(NULL, &captured) == 0, "a capture"); // forgets graph 1
  if (mended)
    cudaGraphDestroy(captured);
  expect(cudaStreamEndCapture_ptsz(NULL, &captured) == 0, "a capture"); // forgets graph 1
  if (mended)
    cudaGraphDestroy(captured);
  cudaGraphDestroy(graph);
  MAKE(void *, cuStreamCreate, cuStreamDestroy_v2, WITH 0); // forgets stream 1
  MAKE(void *, cuStreamCreateWithPriority, cuStreamDestroy_v2, WITH 0 WITH 1); // forgets stream 1
  MAKE(void *, cuEventCreate, cuEventDestroy_v2, WITH 0); // forgets event 1
  MAKE(void *, cuCtxCreate_v2, cuCtxDestroy_v2, WITH 0 WITH 0); // forgets context 1
  MAKE(void *, cuCtxCreate_v3, cuCtxDestroy_v2, WITH NULL WITH 0 WITH 0 WITH 0); // forgets context 1
  MAKE(void *, cuCtxCreate_v4, cuCtxDestroy_v2, WITH NULL WITH 0 WITH 0); // forgets context 1
  void *none = (void *)8;
  expect(cuCtxCreate_v2(&none, 0, -1) != 0, "a context of no device");
  MAKE(void *, cuModuleLoad, cuModuleUnload, WITH "name"); // forgets module 1
  expect(cuModuleLoad(&none, NULL) != 0, "a module of no file");
  MAKE(void *, cuModuleLoadData, cuModuleUnload, WITH "code"); // forgets module 1
  MAKE(void *, cuModuleLoadDataEx, cuModuleUnload, WITH "code" WITH 0 WITH NULL WITH NULL); // forgets module 1
  MAKE(void *, cuModuleLoadFatBinary, cuModuleUnload, WITH "code"); // forgets module 1
  MAKE(void *, cuLibraryLoadData, cuLibraryUnload, WITH "code" WITH NULL WITH NULL WITH 0 WITH NULL WITH NULL WITH 0); // forgets module 1
  MAKE(void *, cuLibraryLoadFromFile, cuLibraryUnload, WITH "name" WITH NULL WITH NULL WITH 0 WITH NULL WITH NULL WITH 0); // forgets module 1
  void *drawn = NULL, *caught = NULL;
  expect(cuGraphCreate(&drawn, 0) == 0, "a graph");
  MAKE(void *, cuGraphCreate, cuGraphDestroy, WITH 0); // forgets graph 1
  MAKE(void *, cuGraphClone, cuGraphDestroy, WITH drawn); // forgets graph 1
  MAKE(void *, cuGraphInstantiateWithFlags, cuGraphExecDestroy, WITH drawn WITH 0); // forgets graph 1
  MAKE(void *, cuGraphInstantiateWithParams, cuGraphExecDestroy, WITH drawn WITH NULL); // forgets graph 1
  MAKE(void *, cuGraphInstantiateWithParams_ptsz, cuGraphExecDestroy, WITH drawn WITH NULL); // forgets graph 1
  expect(cuStreamEndCapture(NULL, &caught) == 0, "a capture"); // forgets graph 1
  if (mended)
    cuGraphDestroy(caught);
  expect(cuStreamEndCapture_ptsz(NULL, &caught) == 0, "a capture"); // forgets graph 1
  if (mended)
    cuGraphDestroy(caught);
  cuGraphDestroy(drawn);
  MAKE(Plan, cufftCreate, cufftDestroy); // forgets plan 1
  MAKE(Plan, cufftPlan1d, cufftDestroy, WITH 8 WITH 0 WITH 1); // forgets plan 1
  MAKE(Plan, cufftPlan2d, cufftDestroy, WITH 8 WITH 8 WITH 0); // forgets plan 1
  MAKE(Plan, cufftPlan3d, cufftDestroy, WITH 8 WITH 8 WITH 8 WITH 0); // forgets plan 1
  int sizes[] = {8};
  MAKE(Plan, cufftPlanMany, cufftDestroy, WITH 1 WITH sizes WITH sizes WITH 1 WITH 8 WITH sizes WITH 1 WITH 8 WITH 0 WITH 1); // forgets plan 1
  Plan refused = (Plan)77;
  expect(cufftPlan1d(&refused, 0, 0, 1) != 0, "a plan of nothing");
  printf("%d failures\n", failures);
  return failures != 0;
}
