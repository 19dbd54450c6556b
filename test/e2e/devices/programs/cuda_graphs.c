// Makes graphs that allocate and free memory: by a captured stream, and node by node. With "unlaunched" no graph runs.
// With "mended" it leaks nothing.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

enum { kKept = 1 << 20, kWithin = 2 << 20, kNode = 1 << 19, kAny = 1 << 18, kBefore = 1 << 12 };

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

static void *kept;

static cudaGraphExec_t captured(cudaStream_t stream, void *before) {
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  void *within;
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), 0, "begin");
  expect(cudaMallocAsync(&kept, kKept, stream), 0, "kept");       // kept
  expect(cudaMallocAsync(&within, kWithin, stream), 0, "within"); // within the graph
  expect(cudaMemsetAsync(within, 1, kWithin, stream), 0, "fill");
  expect(cudaFreeAsync(within, stream), 0, "free within the graph");
  expect(cudaStreamEndCapture(stream, &graph), 0, "end");
  expect(cudaFreeAsync(before, stream), 0, "free of a usual block");
  expect(cudaGraphInstantiateWithFlags(&runnable, graph, 0), 0, "runnable");
  expect(cudaGraphDestroy(graph), 0, "end of the graph");
  return runnable;
}

static cudaGraphExec_t node_by_node(void) {
  struct cudaMemAllocNodeParams first = {.poolProps = {.location = {1, 1}}, .bytesize = kNode};
  struct cudaMemAllocNodeParams refused = {.poolProps = {.location = {1, 1}}, .bytesize = (size_t)1 << 40};
  struct cudaGraphNodeParams second = {.type = 10, .alloc = {.poolProps = {.location = {1, 0}}, .bytesize = kAny}};
  struct cudaGraphNodeParams freed = {.type = 11};
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  cudaGraphNode_t node;
  expect(cudaGraphCreate(&graph, 0), 0, "graph");
  expect(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &first), 0, "node"); // a node
  expect(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &refused), 2, "too large a node");
  expect(cudaGraphAddNode(&node, graph, NULL, 0, &second), 0, "any node"); // any node
  expect(cudaGraphAddMemFreeNode(&node, graph, NULL, 0, first.dptr), 0, "free");
  freed.free.dptr = second.alloc.dptr;
  expect(cudaGraphAddNode(&node, graph, NULL, 0, &freed), 0, "any free");
  expect(cudaGraphInstantiateWithFlags(&runnable, graph, 0), 0, "runnable");
  expect(cudaGraphDestroy(graph), 0, "end of the graph");
  return runnable;
}

int main(int argc, char **argv) {
  const int mended = argc > 1 && strcmp(argv[1], "mended") == 0, launches = argc == 1 || mended;
  cudaStream_t stream;
  void *before;
  expect(cudaStreamCreate(&stream), 0, "stream");
  expect(cudaMallocAsync(&before, kBefore, stream), 0, "usual block");
  const cudaGraphExec_t one = captured(stream, before), other = node_by_node();
  for (int i = 0; i < 2 && launches; ++i) {
    expect(cudaGraphLaunch(one, stream), 0, "launch");
    if (i == 0 || mended)
      expect(cudaFreeAsync(kept, stream), 0, "free after the launch");
    expect(cudaGraphLaunch(other, stream), 0, "launch of the other graph");
  }
  expect(cudaGraphExecDestroy(one), 0, "end of the runnable graph");
  expect(cudaGraphExecDestroy(other), 0, "end of the other one");
  expect(cudaStreamDestroy(stream), 0, "end of the stream");
  puts("done");
  return 0;
}
