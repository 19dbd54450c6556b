// Opens memory of another process and of another driver, uses it, and closes most of it.
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWeights = 1 << 20, kCache = 1 << 19, kTexture = 1 << 18 };

static void expect(int status, int wanted, const char *what) {
  if (status != wanted)
    printf("%s: %d, not %d\n", what, status, wanted);
}

// In the stand-in, a handle has the number of the memory and its size.
static cudaIpcMemHandle_t handle_of(size_t number, size_t bytes) {
  const size_t words[] = {number, bytes};
  cudaIpcMemHandle_t handle;
  memset(&handle, 0, sizeof handle);
  memcpy(&handle, words, sizeof words);
  return handle;
}

static void of_another_process(char *host) {
  void *weights, *again, *cache, *nothing;
  expect(cudaIpcOpenMemHandle(&weights, handle_of(1, kWeights), 1), 0, "weights"); // weights
  expect(cudaIpcOpenMemHandle(&again, handle_of(1, kWeights), 1), 0, "weights again");
  printf("the memory is %s\n", again == weights ? "open already" : "another one");
  expect(cudaMemcpy(weights, host, kWeights, cudaMemcpyHostToDevice), 0, "copy");
  static char *volatile more; // makes the peak of host memory, while the copy exists
  more = malloc(2 * kWeights);
  free(more);
  expect(cudaIpcCloseMemHandle(again), 0, "first close");
  expect(cudaMemset((char *)weights + 4096, 1, 4096), 0, "fill");
  expect(cudaIpcCloseMemHandle(weights), 0, "last close");
  expect(cudaIpcCloseMemHandle(weights), 1, "close of what is closed");
  expect(cudaIpcOpenMemHandle(&nothing, handle_of(2, 0), 1), 1, "memory that is gone");
  expect(cudaIpcOpenMemHandle(&cache, handle_of(3, kCache), 1), 0, "cache");  // left open
  expect(cudaMemPoolImportPointer(&cache, NULL, NULL), 0, "block of a pool"); // of a pool
  expect(cudaFreeAsync(cache, NULL), 0, "free of a pool's block");
}

static void of_another_driver(void) {
  static int object;
  const cudaExternalMemory_t memory = (cudaExternalMemory_t)&object;
  const struct cudaExternalMemoryBufferDesc part = {0, kTexture, 0};
  const struct cudaExternalMemoryMipmappedArrayDesc levels = {0, {8, 8, 8, 8, 1}, {16, 4, 0}, 0, 2};
  void *texture;
  cudaMipmappedArray_t array;
  expect(cudaExternalMemoryGetMappedBuffer(&texture, memory, &part), 0, "buffer"); // texture
  expect(cudaMemset(texture, 1, kTexture), 0, "fill");
  expect(cudaFree(texture), 0, "free");
  expect(cudaExternalMemoryGetMappedMipmappedArray(&array, memory, &levels), 0, "array"); // array
  expect(cudaFreeMipmappedArray(array), 0, "free");
}

#ifdef HIP
static void by_the_driver(void) {}
#else
// Repeats declarations of cuda.h.
struct array_of_memory {
  unsigned long long offset;
  size_t width, height, depth;
  int format;
  unsigned channels, flags, padding, levels;
};
int cuIpcOpenMemHandle_v2(unsigned long long *address, cudaIpcMemHandle_t handle, unsigned flags);
int cuIpcCloseMemHandle(unsigned long long address);
int cuMemPoolImportPointer(unsigned long long *address, void *pool, void *data);
int cuExternalMemoryGetMappedBuffer(unsigned long long *address, const void *memory, const void *what);
int cuExternalMemoryGetMappedMipmappedArray(void **array, const void *memory, const void *what);
int cuMipmappedArrayDestroy(void *array);
int cuMemFree_v2(unsigned long long address);

static void by_the_driver(void) {
  const struct cudaExternalMemoryBufferDesc part = {0, 6000, 0};
  const struct array_of_memory levels = {0, 16, 4, 0, 0x10, 2, 0, 0, 1};
  unsigned long long address;
  void *array;
  expect(cuIpcOpenMemHandle_v2(&address, handle_of(4, 5000), 1), 0, "driver: another process'");
  expect(cuIpcCloseMemHandle(address), 0, "driver: close");
  expect(cuMemPoolImportPointer(&address, NULL, NULL), 0, "driver: block of a pool");
  expect(cuMemFree_v2(address), 0, "driver: free");
  expect(cuExternalMemoryGetMappedBuffer(&address, &levels, &part), 0, "driver: buffer");
  expect(cuMemFree_v2(address), 0, "driver: free");
  expect(cuExternalMemoryGetMappedMipmappedArray(&array, &array, &levels), 0, "driver: array");
  expect(cuMipmappedArrayDestroy(array), 0, "driver: free of the array");
}
#endif

int main(void) {
  char *host = malloc(kWeights);
  void *own;
  memset(host, 7, kWeights);
  expect(cudaMalloc(&own, 1000), 0, "own block");
  of_another_process(host);
  of_another_driver();
  by_the_driver();
  expect(cudaFree(own), 0, "free of the own block");
  free(host);
  puts("done");
  return 0;
}
