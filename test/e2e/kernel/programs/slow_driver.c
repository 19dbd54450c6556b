// A driver (libcudart) whose cudaMalloc and cudaLaunchKernel first do what the program has chosen, such as waiting for a
// lock. It is built as a library of its own, because msleaks' hooks are between it and the program.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>

void (*slow_part)(void); // the program sets it

__attribute__((visibility("default"))) int cudaMalloc(void **address, size_t size) {
  slow_part();
  static char memory[1 << 20];
  static size_t used;
  *address = memory + used;
  used += size;
  return 0;
}
__attribute__((visibility("default"))) int cudaFree(void *address) { return address == NULL; }

struct Extent {
  unsigned x, y, z;
};
__attribute__((visibility("default"))) int cudaLaunchKernel(const void *kernel, struct Extent grid, struct Extent block, void **arguments, size_t shared,
                                                            void *stream) {
  (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
  slow_part();
  return 0;
}
