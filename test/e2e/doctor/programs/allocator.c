// Allocates by a function with mimalloc's name. ALLOCATOR adds the allocator to the program. LIBRARY leaves out main().
#include <stddef.h>
#include <sys/mman.h>

void *mi_malloc(size_t bytes);
void mi_free(void *block);
void *volatile block;

#ifdef ALLOCATOR
int mi_version(void) { return 1; }
void *mi_malloc(size_t bytes) { return mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
void mi_free(void *address) { munmap(address, 1); }
#endif

#ifndef LIBRARY
int main(void) {
  block = mi_malloc(100);
  mi_free(block);
  return 0;
}
#endif
