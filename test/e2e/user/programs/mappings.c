// What the kernel does to mappings, and what it refuses. Alive at the end: 4 pages, 2 moved pages, 8 pages twice mapped.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

enum { kPage = 4096 };

static char *map(size_t pages) {
  return mmap(0, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
  int refused = 0;
  char *kept = map(4);
  refused += mremap(kept, 4 * kPage, 64 * kPage, 0, 0) == MAP_FAILED; // may not move
  refused += mremap(kept, 4 * kPage, 0, MREMAP_MAYMOVE) == MAP_FAILED;
  refused += mremap(kept + 1, kPage, kPage, MREMAP_MAYMOVE) == MAP_FAILED;
  refused += munmap(kept, 0) != 0;
  refused += munmap(kept + 1, kPage) != 0;
  char *halved = map(2);
  char *moved = mremap(halved, kPage, 2 * kPage, MREMAP_MAYMOVE); // its first page
  munmap(halved + kPage, kPage);
  char *left = map(8);
  char *second = mremap(left, 8 * kPage, 8 * kPage, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
  char *gone = map(16);
  gone = mremap(gone, 16 * kPage, 32 * kPage, MREMAP_MAYMOVE);
  munmap(gone, 32 * kPage);
  printf("%d refused, %d mapped\n", refused, moved != MAP_FAILED && second != MAP_FAILED && gone != MAP_FAILED);
  return 0;
}
