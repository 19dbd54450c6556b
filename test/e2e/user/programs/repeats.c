// Allocates a thousand buffers at one line, one at a time, and two thousand at another line, two at a time.
#include <msleaks/api.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTimes = 1000, kBuffer = 3000, kPair = 70 };

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void once(void) {
  void *buffer = used(malloc(kBuffer));
  free(buffer);
}

static void twice(void) {
  void *pair[2];
  for (int i = 0; i < 2; ++i)
    pair[i] = used(malloc(kPair));
  for (int i = 0; i < 2; ++i)
    free(pair[i]);
}

int main(void) {
  for (int number = 0; number < kTimes; ++number) {
    if (number % 100 == 0)
      msl_step((uint64_t)number);
    once();
    twice();
  }
  puts("done");
  return 0;
}
