// Imitates a driver and a memory pool. cuGetProcAddress_v2 returns the driver's functions by name.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int cuMemAlloc_v2(uint64_t *where, size_t size) {
  *where = (uint64_t)malloc(size);
  return *where != 0 ? 0 : 2;
}
int cuMemFree_v2(uint64_t block) {
  if (block % 16 != 0)
    return 1; // refuses an address at which no block begins
  free((void *)block);
  return 0;
}
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, void *outcome) {
  (void)version, (void)flags, (void)outcome;
  *function = strcmp(name, "cuMemAlloc") == 0 ? (void *)cuMemAlloc_v2 : strcmp(name, "cuMemFree") == 0 ? (void *)cuMemFree_v2 : NULL;
  return *function != NULL ? 0 : 500;
}

void *pool_take(int pool, size_t size) {
  (void)pool;
  return malloc(size);
}
void pool_give(int pool, void *block) {
  (void)pool;
  free(block);
}

void *pages_map(size_t size, int protection, int flags) { return mmap(NULL, size, protection, flags, -1, 0); }
void *pages_move(void *pages, size_t old_size, size_t size, int flags) { return mremap(pages, old_size, size, flags); }
int pages_protect(void *pages, size_t size, int protection) { return mprotect(pages, size, protection); }
int pages_unmap(void *pages, size_t size) { return munmap(pages, size); }
