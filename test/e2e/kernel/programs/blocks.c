// Touches blocks of malloc and of mmap for the first time, and prints their addresses and sizes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kBytes = 1 << 20 };

int main(void) {
  char *block = malloc(kBytes);
  memset(block, 1, kBytes);
  printf("%llu %d\n", (unsigned long long)block, kBytes);
  char *mapping = mmap(0, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(mapping, 2 * kBytes, MADV_NOHUGEPAGE);
  memset(mapping, 1, 2 * kBytes);
  printf("%llu %d\n", (unsigned long long)mapping, 2 * kBytes);
  free(block);
  munmap(mapping, 2 * kBytes);
  return 0;
}
