// Drivers that do as little as a driver can, so that what a hook adds is all that there is to see. Their functions are
// CUDA's and Ascend's, by name and prototype.
#include <stddef.h>

typedef struct {
  unsigned x, y, z;
} dim3;

static _Alignas(256) char memory[1 << 20];
static size_t taken;

static void *take(void) { return memory + (taken++ * 256 & (sizeof memory - 1)); }

int cudaMalloc(void **block, size_t size) {
  *block = take();
  (void)size;
  return 0;
}
int cudaFree(void *block) {
  (void)block;
  return 0;
}
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
  (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
  return 0;
}
int halMemAlloc(void **block, unsigned long long size, unsigned long long flag) {
  *block = take();
  (void)size, (void)flag;
  return 0;
}
int halMemFree(void *block) {
  (void)block;
  return 0;
}
