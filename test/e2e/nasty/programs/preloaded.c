// A library that the user preloads. It counts the program's allocations of 777 bytes, and the
// frees of these blocks. The counts that it prints must be the same with and without msleaks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static long allocs, frees;
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);

void *malloc(size_t size) {
  if (!next_malloc)
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  allocs += size == 777;
  return next_malloc(size);
}
void free(void *block) {
  if (!next_free)
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  frees += block != NULL && *(char *)block == 'f';
  next_free(block);
}
__attribute__((destructor)) static void tell(void) {
  if (allocs >= 100) // leaves out msleaks-run, which also preloads the library and may allocate 777 bytes a few times
    fprintf(stderr, "%ld %ld\n", allocs, frees);
}
