// Allocates a pool inside a block, a block that it touches, and a block of which it touches only one byte.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMiB = 1 << 20 };

static char *segment;
static size_t used;
__attribute__((annotate("msleaks.alloc"))) void *poolGet(size_t size) { return segment + (used += size) - size; }
__attribute__((annotate("msleaks.free"))) void poolPut(void *part) { (void)part; }

int main(void) {
  segment = malloc(16 * kMiB);
  memset(segment, 1, 16 * kMiB);
  char *first = poolGet(5 * kMiB), *second = poolGet(2 * kMiB);
  char *touched = malloc(32 * kMiB);
  memset(touched, 1, 32 * kMiB);
  char *untouched = malloc(100 * kMiB);
  *(volatile char *)untouched = 1;
  usleep(300000); // gives the collector time to read the page tables
  printf("%d\n", first[0] + second[0] + touched[0]);
  poolPut(second);
  free(untouched);
  usleep(300000);
  return 0;
}
