// One pair of malloc and free, for the programs that measure its time. A function replaces a block by one of another
// size, at a given depth of the stack. The source that includes this file defines _GNU_SOURCE.
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static void replace(void **slot, size_t size) {
  free(*slot);
  *slot = malloc(size);
  *(volatile char *)*slot = 1;
}

// The compiler must neither inline this function nor make its call a tail call. Otherwise there would be fewer than
// `depth` frames on the stack.
__attribute__((noinline)) static int descend(int depth, void **slot, size_t size) {
  if (depth == 0)
    return replace(slot, size), 0;
  const int below = descend(depth - 1, slot, size);
  __asm__ volatile("" ::: "memory");
  return below + 1;
}
