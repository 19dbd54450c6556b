// Has two blocks that the test watches by --watch, one by its line and one by its address.
// The operator "load" writes into both. Then "scale" writes into both in each of three steps. At
// the end it frees both, and writes into a new block, which gets the address of the first one.
#include <msleaks/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kBytes = 4096, kOffset = 100 };

char *weights, *other; // global, so that the compiler does not delete the allocations

static char *made(size_t bytes) { return calloc(1, bytes); }

static void write_at(char *to, const char *name, int value) {
  msl_range_push(name); // begins the operator
  memset(to, value, 8);
  msl_range_pop();
}

int main(void) {
  other = made(kBytes);
  weights = made(kBytes); // weights
  char *mapping = mmap((char *)(1ul << 40), kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapping == MAP_FAILED)
    return 1;
  write_at(weights, "load", 9);
  write_at(mapping, "load", 9);
  for (int step = 1; step <= 3; ++step) {
    msl_step((uint64_t)step);
    write_at(other + kOffset, "relu", step);
    write_at(weights + kOffset, "scale", step);
    write_at(mapping + kOffset, "scale", step);
    write_at(other + kOffset, "relu", step);
  }
  printf("%d %d %d\n", weights[kOffset], mapping[kOffset], other[kOffset]);
  munmap(mapping, kBytes);
  free(weights);
  char *next = malloc(kBytes);
  write_at(next, "late", 1);
  free(next);
  free(other);
  return 0;
}
