// Unmaps the middle of a mapping, moves, grows and shrinks mappings, maps over parts of existing
// mappings, and maps a memfd twice. One call unmaps several adjacent mappings.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096 };
static char *map(void *where, int pages, int flags, int file) {
  return mmap(where, pages * kPage, PROT_READ | PROT_WRITE,
              flags | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), file, 0);
}

int main(void) {
  char *hole = map(NULL, 8, 0, -1);
  munmap(hole + 2 * kPage, 3 * kPage); // unmaps pages 2, 3 and 4
  munmap(hole, 8 * kPage);             // the range includes the pages that are already unmapped
  char *moved = map(NULL, 4, 0, -1);
  moved = mremap(moved, 4 * kPage, 64 * kPage, MREMAP_MAYMOVE);
  moved[63 * kPage] = 1;
  moved = mremap(moved, 64 * kPage, 2 * kPage, 0);
  char *room = map(NULL, 16, 0, -1);
  for (int i = 0; i < 16; i += 2) // maps over parts of an existing mapping
    map(room + i * kPage, 1, MAP_FIXED, -1)[0] = 1;
  munmap(room, 16 * kPage);
  char *target = map(NULL, 2, 0, -1);
  moved = mremap(moved, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, target);
  munmap(moved, 2 * kPage);
  int file = memfd_create("nasty", 0);
  int failed = ftruncate(file, 4 * kPage);
  char *shared = map(NULL, 4, 0, file), *twice = map(NULL, 4, 0, file);
  shared[0] = 'x';
  failed |= twice[0] != 'x';
  munmap(shared, 4 * kPage);
  munmap(twice, 4 * kPage);
  close(file);
  char *kept = map(NULL, 3, 0, -1);
  munmap(kept + kPage, kPage);
  printf("%d\nleaked %d 2\n", failed, 2 * kPage);
  return 0;
}
