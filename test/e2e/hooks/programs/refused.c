// Makes frees, launches and copies that the library refuses. At the end, blocks of 1001, 1003 and 1009 bytes are alive.
#include <stddef.h>
#include <stdio.h>

typedef struct {
  unsigned x, y, z;
} dim3;
int cudaMalloc(void **where, size_t size), cudaFree(void *block);
int cudaMemcpy(void *to, const void *from, size_t size, int direction);
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);
extern int busy;

#if defined(__clang__)
#define TAIL __attribute__((musttail))
#else
#define TAIL
#endif
__attribute__((noinline)) static int giveBack(void *block) { TAIL return cudaFree(block); }

static void *make(size_t size) {
  void *block = NULL;
  return cudaMalloc(&block, size) == 0 ? block : NULL;
}

int main(void) {
  const dim3 one = {1, 1, 1};
  int refused = 0;
  void *kept = make(1001), *gone = make(1007), *tail = make(1003), *last = make(1009);
  busy = 1;
  refused += cudaFree(kept) != 0;
  refused += cudaFree(kept) != 0;
  refused += giveBack(tail) != 0;
  refused += cudaFree(gone) != 0;
  refused += cudaFree(last) != 0;
  busy = 0;
  refused += cudaFree(gone) != 0;
  refused += cudaMemcpy(gone, kept, 9, 1) != 0;
  refused += cudaMemcpy(NULL, kept, 9, 1) != 0;
  refused += cudaLaunchKernel((void *)main, one, one, NULL, 0, NULL) != 0;
  refused += cudaLaunchKernel(NULL, one, one, NULL, 0, NULL) != 0;
  printf("%d refused\n", refused);
  return 0;
}
