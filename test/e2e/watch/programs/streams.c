// Watches a block of a CUDA device. A kernel in the stream `other` runs until the host sets a flag. Meanwhile a kernel
// in `stream` writes past its own block, into the watched block.
#include <cuda_runtime_api.h>
#include <msleaks/api.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kBytes = 4096, kOffset = 64, kStray = 16, kMostSeconds = 10 };

static int has_begun, may_end, has_ended;
static const cudaStream_t other = NULL; // on the stand-in, cudaDeviceSynchronize waits for this stream
static cudaStream_t stream;

// The stand-in calls this kernel at its launch. The kernel ends when `may_end` is set, or after kMostSeconds.
static void busy(void **arguments) {
  (void)arguments;
  const time_t begin = time(NULL);
  __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&may_end, __ATOMIC_ACQUIRE) && time(NULL) - begin < kMostSeconds) {
  }
  __atomic_store_n(&has_ended, 1, __ATOMIC_RELEASE);
}
static void relu(void **arguments) {
  char *activations = *(char **)arguments[0];
  memset(activations, 1, kBytes);
  memset(activations + kBytes + kOffset, 77, kStray);
}

static int launch(void (*kernel)(void **), void **given, cudaStream_t stream) {
  const dim3 one = {1, 1, 1};
  return cudaLaunchKernel((const void *)(uintptr_t)kernel, one, one, given, 0, stream); // launch
}

static void *be_busy(void *none) {
  launch(busy, NULL, other);
  return none;
}

int main(void) {
  char host[kBytes] = {0};
  void *activations, *weights;
  if (cudaMalloc(&activations, kBytes) != 0 || cudaMalloc(&weights, kBytes) != 0 || cudaStreamCreate(&stream) != 0)
    return 1;
  void *given[] = {&activations};
  cudaMemset(weights, 5, kBytes);
  msl_watch(weights, kBytes, "weights"); // no kernel runs here: a running kernel makes hidden memory accessible
  // Another thread launches the kernel, since the stand-in's launch returns only when the kernel has ended.
  pthread_t thread;
  if (pthread_create(&thread, NULL, be_busy, NULL) != 0)
    return 1;
  while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE)) {
  }
  for (int step = 1; step <= 3; ++step) {
    cudaMemsetAsync(activations, step, kBytes, stream);
    launch(relu, given, stream);
    cudaMemcpyAsync(host, weights, kBytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf("step %d: %d, the other stream is busy: %d\n", step, host[kOffset],
           !__atomic_load_n(&has_ended, __ATOMIC_ACQUIRE));
  }
  __atomic_store_n(&may_end, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  msl_unwatch(weights);
  printf("it has ended: %d\n", has_ended);
  cudaStreamDestroy(stream);
  cudaFree(activations);
  cudaFree(weights);
  return 0;
}
