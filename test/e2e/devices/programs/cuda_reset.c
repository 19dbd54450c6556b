// Resets devices. A reset ends all blocks of the device, and the program must not free them afterwards.
#include <cuda_runtime_api.h>

#include <stdio.h>

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

static void *allocate(int device, size_t bytes) {
  void *block;
  expect(cudaSetDevice(device), 0, "device");
  expect(cudaMalloc(&block, bytes), 0, "block"); // allocate
  return block;
}

#ifdef HIP
static void by_the_driver(void) {}
#else
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxReset_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device);

static void by_the_driver(void) {
  void *context;
  expect(cuDevicePrimaryCtxRetain(&context, 1), 0, "first owner");
  expect(cuDevicePrimaryCtxRetain(&context, 1), 0, "second owner");
  allocate(1, 601); // ended by a reset
  expect(cuDevicePrimaryCtxReset_v2(1), 0, "reset");
  void *kept = allocate(1, 602);
  expect(cuDevicePrimaryCtxRelease_v2(1), 0, "release by one owner");
  expect(cudaFree(kept), 0, "free of what is still there");
  allocate(1, 603); // ended by the last release
  expect(cuDevicePrimaryCtxRelease_v2(1), 0, "release by the other");
}
#endif

static void openStream(int device) {
  cudaStream_t stream;
  expect(cudaSetDevice(device), 0, "device");
  expect(cudaStreamCreate(&stream), 0, "stream"); // stream
}

int main(void) {
  openStream(0);
  openStream(1);
  void *locked, *first = allocate(0, 1000), *second = allocate(1, 2000);
  expect(cudaMallocHost(&locked, 3000), 0, "locked block");
  expect(cudaDeviceReset(), 0, "reset of the second device");
  expect(cudaFree(second), cudaErrorInvalidValue, "free of what has ended");
  expect(cudaFreeHost(locked), 0, "free of what is still there");
  expect(cudaMallocHost(&locked, 3001), 0, "locked block");
  openStream(1);
  void *again = allocate(0, 1001);
  expect(cudaDeviceReset(), 0, "reset of the first device");
  expect(cudaFree(first), cudaErrorInvalidValue, "free of what has ended");
  expect(cudaFree(again), cudaErrorInvalidValue, "free of what has ended");
  expect(cudaFreeHost(locked), cudaErrorInvalidValue, "free of what has ended");
  void *freed = allocate(0, 1002);
  expect(cudaFree(freed), 0, "free");
  expect(cudaMalloc(&first, 1003), 0, "block"); // forgotten
  expect(cudaDeviceReset(), cudaErrorInvalidValue, "refused reset");
  by_the_driver();
  puts("done");
  return 0;
}
