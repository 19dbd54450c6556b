// Reserves address space without access, and makes it accessible piece by piece, as
// many allocators do. Releases a piece by mapping it without access again.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
  const size_t all = (size_t)1 << 30, piece = 1 << 20;
  char *space = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    return 9;
  long sum = 0;
  for (int i = 0; i < 8; ++i) {
    char *part = space + i * 16 * piece;
    if (mprotect(part, piece, PROT_READ | PROT_WRITE) != 0)
      return 8;
    memset(part, i, 100);
    sum += part[50];
    if (i % 2)
      mmap(part, piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  }
  munmap(space, all);
  printf("%ld\n", sum);
  return 0;
}
