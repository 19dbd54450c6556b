// Imitates objects of CUDA's driver that use no memory of the device: streams, events, contexts, modules, graphs.
#include "../common/objects.h"
#include "../common/refusal.h"

#include <cstddef>

namespace {
auto &streams = *new standin::Objects("stream");
auto &events = *new standin::Objects("event");
auto &contexts = *new standin::Objects("context");
auto &modules = *new standin::Objects("module");
auto &libraries = *new standin::Objects("library");
auto &graphs = *new standin::Objects("graph");
auto &runnables = *new standin::Objects("runnable graph");

constexpr int kInvalid = 400;
int run(void **made, void *graph) { return graphs.holds(graph) ? runnables.make(made) : kInvalid; }
} // namespace

extern "C" {
int cuStreamCreate(void **made, unsigned) {
  STANDIN_MAY_REFUSE();
  return streams.make(made);
}
int cuStreamCreateWithPriority(void **made, unsigned, int) {
  STANDIN_MAY_REFUSE();
  return streams.make(made);
}
int cuStreamDestroy_v2(void *stream) {
  STANDIN_MAY_REFUSE();
  return streams.destroy(stream);
}
int cuEventCreate(void **made, unsigned) {
  STANDIN_MAY_REFUSE();
  return events.make(made);
}
int cuEventDestroy_v2(void *event) {
  STANDIN_MAY_REFUSE();
  return events.destroy(event);
}

int cuCtxCreate_v2(void **made, unsigned, int device) {
  STANDIN_MAY_REFUSE();
  return device < 0 ? kInvalid : contexts.make(made);
}
int cuCtxCreate_v3(void **made, void *, int, unsigned, int) {
  STANDIN_MAY_REFUSE();
  return contexts.make(made);
}
int cuCtxCreate_v4(void **made, void *, unsigned, int) {
  STANDIN_MAY_REFUSE();
  return contexts.make(made);
}
int cuCtxDestroy_v2(void *context) {
  STANDIN_MAY_REFUSE();
  return contexts.destroy(context);
}

int cuModuleLoad(void **made, const char *name) {
  STANDIN_MAY_REFUSE();
  return name == nullptr ? kInvalid : modules.make(made);
}
int cuModuleLoadData(void **made, const void *) {
  STANDIN_MAY_REFUSE();
  return modules.make(made);
}
int cuModuleLoadDataEx(void **made, const void *, unsigned, int *, void **) {
  STANDIN_MAY_REFUSE();
  return modules.make(made);
}
int cuModuleLoadFatBinary(void **made, const void *) {
  STANDIN_MAY_REFUSE();
  return modules.make(made);
}
int cuModuleUnload(void *module) {
  STANDIN_MAY_REFUSE();
  return modules.destroy(module);
}
int cuLibraryLoadData(void **made, const void *, int *, void **, unsigned, int *, void **, unsigned) {
  STANDIN_MAY_REFUSE();
  return libraries.make(made);
}
int cuLibraryLoadFromFile(void **made, const char *, int *, void **, unsigned, int *, void **, unsigned) {
  STANDIN_MAY_REFUSE();
  return libraries.make(made);
}
int cuLibraryUnload(void *library) {
  STANDIN_MAY_REFUSE();
  return libraries.destroy(library);
}

int cuGraphCreate(void **made, unsigned) {
  STANDIN_MAY_REFUSE();
  return graphs.make(made);
}
int cuGraphClone(void **made, void *graph) {
  STANDIN_MAY_REFUSE();
  return graphs.holds(graph) ? graphs.make(made) : kInvalid;
}
int cuStreamEndCapture(void *, void **made) {
  STANDIN_MAY_REFUSE();
  return graphs.make(made);
}
int cuStreamEndCapture_ptsz(void *, void **made) {
  STANDIN_MAY_REFUSE();
  return graphs.make(made);
}
int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long) {
  STANDIN_MAY_REFUSE();
  return run(made, graph);
}
int cuGraphInstantiateWithParams(void **made, void *graph, void *) {
  STANDIN_MAY_REFUSE();
  return run(made, graph);
}
int cuGraphInstantiateWithParams_ptsz(void **made, void *graph, void *) {
  STANDIN_MAY_REFUSE();
  return run(made, graph);
}
int cuGraphDestroy(void *graph) {
  STANDIN_MAY_REFUSE();
  return graphs.destroy(graph);
}
int cuGraphExecDestroy(void *runnable) {
  STANDIN_MAY_REFUSE();
  return runnables.destroy(runnable);
}
}
