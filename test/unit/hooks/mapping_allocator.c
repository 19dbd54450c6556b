// A library with an allocator that gets its memory from mmap(), as jemalloc and tcmalloc do.
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static const size_t kHeader = 64;

void *malloc(size_t size) {
  size_t *block = mmap(NULL, size + kHeader, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return NULL;
  *block = size;
  return (char *)block + kHeader;
}

void free(void *block) {
  if (block != NULL)
    munmap((char *)block - kHeader, *(size_t *)((char *)block - kHeader) + kHeader);
}

void *calloc(size_t count, size_t size) { return malloc(count * size); }

void *realloc(void *block, size_t size) {
  void *larger = malloc(size);
  if (block != NULL && larger != NULL) {
    const size_t old = *(size_t *)((char *)block - kHeader);
    memcpy(larger, block, old < size ? old : size);
    free(block);
  }
  return larger;
}
