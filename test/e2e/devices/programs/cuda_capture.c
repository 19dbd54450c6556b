// Captures a launch, a copy, a fill and an allocation of a stream into a graph. Meanwhile the program watches a block
// and begins a step. When the graph runs, a kernel writes past its own block.
#include <cuda_runtime_api.h>
#include <msleaks/api.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 4096, kStray = 16, kPauseUs = 200000 };

static int failures;

static void expect(int status, int wanted, const char *what) {
  if (status != wanted) {
    printf("%s: %d, not %d\n", what, status, wanted);
    ++failures;
  }
}

// These functions are the kernels: the driver's stand-in calls them at launches.
void relu(void **arguments) { memset(*(char **)arguments[0], 1, kBytes + kStray); }
void add(void **arguments) { **(int **)arguments[0] += 1; }

// Argument of the captured kernel. It is global, since the kernel reads it when the graph runs.
static void *given[1];
static char host[kBytes];
static void *activations, *weights, *sums;

static void capture(cudaStream_t stream, cudaStream_t other) {
  const dim3 one = {1, 1, 1};
  void *temporary, *sum[] = {&sums};
  enum cudaStreamCaptureStatus status;
  given[0] = &activations;
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0, "begin");
  usleep(kPauseUs);
  msl_step(1);
  expect(cudaLaunchKernel((const void *)(uintptr_t)relu, one, one, given, 0, stream), 0, "launch");
  expect(cudaMemcpyAsync(host, activations, kBytes, cudaMemcpyDeviceToHost, stream), 0, "copy");
  expect(cudaMallocAsync(&temporary, 1 << 20, stream), 0, "block of the stream");
  expect(cudaMemsetAsync(temporary, 0, 100, stream), 0, "fill");
  expect(cudaLaunchKernel((const void *)(uintptr_t)add, one, one, sum, 0, other), 0, "launch of another stream");
  expect(cudaStreamIsCapturing(stream, &status), 0, "question");
  expect(status, cudaStreamCaptureStatusActive, "state");
}

int main(void) {
  cudaStream_t stream, other;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t runnable;
  expect(cudaStreamCreate(&stream), 0, "stream");
  expect(cudaStreamCreate(&other), 0, "stream");
  expect(cudaMalloc(&activations, kBytes), 0, "block");
  expect(cudaMalloc(&weights, kBytes), 0, "block");
  expect(cudaMalloc(&sums, kBytes), 0, "block");
  expect(cudaMemset(weights, 5, kBytes), 0, "fill");
  msl_watch(weights, kBytes, "weights");
  capture(stream, other);
  expect(cudaStreamEndCapture(stream, &graph), 0, "end");
  if (graph == NULL)
    return 1;
  expect(host[0], 0, "nothing has run");
  expect(cudaGraphInstantiateWithFlags(&runnable, graph, 0), 0, "runnable");
  expect(cudaGraphLaunch(runnable, stream), 0, "graph"); // launch
  expect(cudaStreamSynchronize(stream), 0, "wait");
  expect(host[0], 1, "the graph has run");
  msl_unwatch(weights);

  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0, "begin");
  expect(cudaStreamSynchronize(stream), 900, "wait for a captured stream");
  expect(cudaStreamEndCapture(stream, &graph), 901, "end of what has ended");
  expect(cudaGetLastError(), 901, "last error");
  expect(cudaGraphExecDestroy(runnable), 0, "no runnable");
  printf("%d failures\n", failures);
  return failures != 0;
}
