// Has two adjacent blocks of a CUDA device. In step 2 a kernel writes past the first block, into the second block. The
// report must not name the copies and fills into the second block.
#include <cuda_runtime_api.h>
#include <msleaks/api.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kBytes = 4096, kOffset = 64, kStray = 16 };

// This function is the kernel: the stand-in calls it at each launch, with the addresses of the arguments.
void relu(void **arguments) {
  char *activations = *(char **)arguments[0];
  const int stray = *(int *)arguments[1];
  memset(activations, 1, kBytes);
  if (stray)
    memset(activations + kBytes + kOffset, 77, kStray);
}

int main(int count, char **arguments) {
  const int is_mended = count > 1 && strcmp(arguments[1], "mended") == 0;
  static char host[kBytes];
  void *activations, *weights;
  cudaStream_t stream;
  if (cudaMalloc(&activations, kBytes) != 0 || cudaMalloc(&weights, kBytes) != 0 || cudaStreamCreate(&stream) != 0)
    return 1;
  cudaMemset(weights, 5, kBytes);
  msl_watch(weights, kBytes, "weights");
  for (int step = 1; step <= 3; ++step) {
    int stray = step == 2 && !is_mended;
    void *given[] = {&activations, &stray};
    const dim3 one = {1, 1, 1};
    msl_step((uint64_t)step);
    cudaMemsetAsync(weights, step, kBytes / 2, stream);
    cudaLaunchKernel((const void *)(uintptr_t)relu, one, one, given, 0, stream); // launch
    cudaMemcpyAsync(host, weights, kBytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    host[0] += 1;
    cudaMemcpy(weights, host, kBytes, cudaMemcpyHostToDevice);
    printf("step %d: %d, last error %d\n", step, host[kOffset], cudaPeekAtLastError());
  }
  msl_unwatch(weights);
  cudaStreamDestroy(stream);
  cudaFree(activations);
  cudaFree(weights);
  return 0;
}
