// What a call leaves in errno: nothing. One of each kind, and one of each that is refused.
#include <cuda_runtime_api.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { kBytes = 1 << 20, kBefore = EDOM, kPauseUs = 200000 };

static int failures;

#define KEEPS(call, wanted)                                                                                            \
  do {                                                                                                                 \
    errno = kBefore;                                                                                                   \
    const int status = (call);                                                                                         \
    const int behind = errno;                                                                                          \
    if (status != (wanted) || behind != kBefore) {                                                                     \
      printf(#call ": status %d, errno %d\n", status, behind);                                                         \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

// On the device.
void scale(void **arguments) { **(int **)arguments[0] *= 2; }

int main(void) {
  static char host[kBytes];
  void *block = NULL, *refused = NULL;
  void *arguments[] = {&block};
  const void *const kernel = (const void *)(uintptr_t)scale;
  const dim3 one = {1, 1, 1};
  cudaSetDevice(0);
  cudaMalloc(&refused, 1); // what the first call of the driver does is its own
  cudaFree(refused);
  usleep(kPauseUs); // until the ledger asks again
  KEEPS(cudaMalloc(&block, kBytes), 0); // watched
  KEEPS(cudaMalloc(&refused, (size_t)1 << 40), cudaErrorMemoryAllocation);
  KEEPS(cudaGetLastError(), cudaErrorMemoryAllocation);
  for (int i = 0; i < 2; ++i) {
    KEEPS(cudaMemset(block, i, kBytes), 0);
    KEEPS(cudaLaunchKernel(kernel, one, one, arguments, 0, NULL), 0);
    KEEPS(cudaMemcpy(host, block, kBytes, cudaMemcpyDeviceToHost), 0);
    KEEPS(cudaMemcpy(block, host, kBytes, cudaMemcpyHostToDevice), 0);
    KEEPS(cudaLaunchKernel(NULL, one, one, arguments, 0, NULL), cudaErrorInvalidDeviceFunction);
    KEEPS(cudaMemcpy(NULL, host, kBytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    KEEPS(cudaGetLastError(), cudaErrorInvalidValue);
  }
  KEEPS(cudaFree((void *)16), cudaErrorInvalidValue);
  KEEPS(cudaGetLastError(), cudaErrorInvalidValue);
  KEEPS(cudaFree(block), 0);
  printf("%d failures\n", failures);
  return failures != 0;
}
