// Imitates one version of CUDA's runtime library, with its own memory. It cannot free a block of another version.
#include <stddef.h>
#include <stdint.h>

static _Alignas(256) char memory[1 << 20];
static size_t used;

int runtime_version(void) { return VERSION; }
int runtime_owns(const void *block) { return (uintptr_t)block - (uintptr_t)memory < sizeof memory; }

int cudaMalloc(void **block, size_t bytes) {
  *block = memory + used;
  used += (bytes + 255) & ~(size_t)255;
  return 0;
}
int cudaMallocManaged(void **block, size_t bytes, unsigned flags) { return cudaMalloc(block, bytes); } // calls the hook
int cudaFree(void *block) { return runtime_owns(block) ? 0 : 1; }
