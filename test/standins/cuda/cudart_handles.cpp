// Imitates handles of CUDA's runtime library, which the driver creates. Tests replace the names to imitate HIP.
#include "../common/refusal.h"

#include <cstddef>

extern "C" {
int cuStreamCreate(void **, unsigned);
int cuStreamCreateWithPriority(void **, unsigned, int);
int cuStreamDestroy_v2(void *);
int cuEventCreate(void **, unsigned);
int cuEventDestroy_v2(void *);
int cuGraphCreate(void **, unsigned);
int cuGraphClone(void **, void *);
int cuStreamEndCapture(void *, void **);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphDestroy(void *);
int cuGraphExecDestroy(void *);

int cudaStreamCreate(void **made) {
  STANDIN_MAY_REFUSE();
  return cuStreamCreate(made, 0);
}
int cudaStreamCreateWithFlags(void **made, unsigned flags) {
  STANDIN_MAY_REFUSE();
  return cuStreamCreate(made, flags);
}
int cudaStreamCreateWithPriority(void **made, unsigned flags, int priority) {
  STANDIN_MAY_REFUSE();
  return cuStreamCreateWithPriority(made, flags, priority);
}
int cudaStreamDestroy(void *stream) {
  STANDIN_MAY_REFUSE();
  return cuStreamDestroy_v2(stream);
}
int cudaEventCreate(void **made) {
  STANDIN_MAY_REFUSE();
  return cuEventCreate(made, 0);
}
int cudaEventCreateWithFlags(void **made, unsigned flags) {
  STANDIN_MAY_REFUSE();
  return cuEventCreate(made, flags);
}
int cudaEventDestroy(void *event) {
  STANDIN_MAY_REFUSE();
  return cuEventDestroy_v2(event);
}
int cudaGraphCreate(void **made, unsigned flags) {
  STANDIN_MAY_REFUSE();
  return cuGraphCreate(made, flags);
}
int cudaGraphClone(void **made, void *graph) {
  STANDIN_MAY_REFUSE();
  return cuGraphClone(made, graph);
}
int cudaStreamEndCapture(void *stream, void **made) {
  STANDIN_MAY_REFUSE();
  return cuStreamEndCapture(stream, made);
}
int cudaStreamEndCapture_ptsz(void *stream, void **made) {
  STANDIN_MAY_REFUSE();
  return cuStreamEndCapture(stream, made);
}
int cudaStreamEndCapture_spt(void *stream, void **made) {
  STANDIN_MAY_REFUSE();
  return cuStreamEndCapture(stream, made);
}
int cudaGraphInstantiate(void **made, void *graph, void *, void *, size_t) {
  STANDIN_MAY_REFUSE();
  return cuGraphInstantiateWithFlags(made, graph, 0);
}
int cudaGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) {
  STANDIN_MAY_REFUSE();
  return cuGraphInstantiateWithFlags(made, graph, flags);
}
int cudaGraphInstantiateWithParams(void **made, void *graph, void *) {
  STANDIN_MAY_REFUSE();
  return cuGraphInstantiateWithFlags(made, graph, 0);
}
int cudaGraphInstantiateWithParams_ptsz(void **made, void *graph, void *) {
  STANDIN_MAY_REFUSE();
  return cuGraphInstantiateWithFlags(made, graph, 0);
}
int cudaGraphDestroy(void *graph) {
  STANDIN_MAY_REFUSE();
  return cuGraphDestroy(graph);
}
int cudaGraphExecDestroy(void *runnable) {
  STANDIN_MAY_REFUSE();
  return cuGraphExecDestroy(runnable);
}
}
