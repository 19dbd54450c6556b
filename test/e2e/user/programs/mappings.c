// Changes mappings, and makes calls that the kernel refuses. At the end, mappings of 4, 2, 8 and 8 pages are
// alive. In a reserved address range, two further ranges are accessible, with 1 page and with 3 pages.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096 };

static char *map(size_t pages) {
  return mmap(0, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
  int refused = 0;
  char *kept = map(4);
  refused += mremap(kept, 4 * kPage, 64 * kPage, 0, 0) == MAP_FAILED; // cannot grow here, and may not move
  refused += mremap(kept, 4 * kPage, 0, MREMAP_MAYMOVE) == MAP_FAILED;
  refused += mremap(kept + 1, kPage, kPage, MREMAP_MAYMOVE) == MAP_FAILED;
  refused += munmap(kept, 0) != 0;
  refused += munmap(kept + 1, kPage) != 0;
  char *halved = map(2);
  char *moved = mremap(halved, kPage, 2 * kPage, MREMAP_MAYMOVE); // moves the first page of `halved`
  munmap(halved + kPage, kPage);
  char *left = map(8);
  char *second = mremap(left, 8 * kPage, 8 * kPage, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
  char *gone = map(16);
  gone = mremap(gone, 16 * kPage, 32 * kPage, MREMAP_MAYMOVE);
  munmap(gone, 32 * kPage);
  char *space = mmap(0, 64 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  refused += mprotect(space + 1, kPage, PROT_READ) != 0;
  mprotect(space + 4 * kPage, 2 * kPage, PROT_READ | PROT_WRITE);
  mprotect(space + 6 * kPage, 3 * kPage, PROT_READ | PROT_WRITE);
  mprotect(space + 5 * kPage, kPage, PROT_NONE);
  mprotect(space + 6 * kPage, kPage, PROT_READ); // the page stays accessible, so it still counts as memory
  int file = memfd_create("pages", 0);
  char *pages = ftruncate(file, 16 * kPage) == 0 ? mmap(0, 16 * kPage, PROT_NONE, MAP_SHARED, file, 0) : MAP_FAILED;
  mprotect(pages, 16 * kPage, PROT_READ); // not counted, since this is a mapping of a file
  printf("%d refused, %d mapped\n", refused, moved != MAP_FAILED && second != MAP_FAILED && gone != MAP_FAILED);
  return 0;
}
