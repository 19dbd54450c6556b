// Imitates a CUDA runtime library. It refuses a launch without a kernel, a copy to NULL, and, if `busy` is set, a free.
#include <stddef.h>
#include <stdlib.h>

typedef struct {
  unsigned x, y, z;
} dim3;

int busy = 0;

int cudaMalloc(void **where, size_t size) { return (*where = malloc(size)) != NULL ? 0 : 2; }
int cudaFree(void *block) {
  if (busy)
    return 700;
  free(block);
  return 0;
}
int cudaMemcpy(void *to, const void *from, size_t size, int direction) {
  (void)from, (void)size, (void)direction;
  return to != NULL ? 0 : 11;
}
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
  (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
  return kernel != NULL ? 0 : 98;
}
