// Stands in for what CUDA's runtime library counts; it has everything of the driver. With other names it is HIP's.
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

int cudaStreamCreate(void **made) { return cuStreamCreate(made, 0); }
int cudaStreamCreateWithFlags(void **made, unsigned flags) { return cuStreamCreate(made, flags); }
int cudaStreamCreateWithPriority(void **made, unsigned flags, int priority) {
  return cuStreamCreateWithPriority(made, flags, priority);
}
int cudaStreamDestroy(void *stream) { return cuStreamDestroy_v2(stream); }
int cudaEventCreate(void **made) { return cuEventCreate(made, 0); }
int cudaEventCreateWithFlags(void **made, unsigned flags) { return cuEventCreate(made, flags); }
int cudaEventDestroy(void *event) { return cuEventDestroy_v2(event); }
int cudaGraphCreate(void **made, unsigned flags) { return cuGraphCreate(made, flags); }
int cudaGraphClone(void **made, void *graph) { return cuGraphClone(made, graph); }
int cudaStreamEndCapture(void *stream, void **made) { return cuStreamEndCapture(stream, made); }
int cudaStreamEndCapture_ptsz(void *stream, void **made) { return cuStreamEndCapture(stream, made); }
int cudaStreamEndCapture_spt(void *stream, void **made) { return cuStreamEndCapture(stream, made); }
int cudaGraphInstantiate(void **made, void *graph, void *, void *, size_t) {
  return cuGraphInstantiateWithFlags(made, graph, 0);
}
int cudaGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) {
  return cuGraphInstantiateWithFlags(made, graph, flags);
}
int cudaGraphInstantiateWithParams(void **made, void *graph, void *) {
  return cuGraphInstantiateWithFlags(made, graph, 0);
}
int cudaGraphInstantiateWithParams_ptsz(void **made, void *graph, void *) {
  return cuGraphInstantiateWithFlags(made, graph, 0);
}
int cudaGraphDestroy(void *graph) { return cuGraphDestroy(graph); }
int cudaGraphExecDestroy(void *runnable) { return cuGraphExecDestroy(runnable); }
}
