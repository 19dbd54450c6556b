// Remembers 10 blocks of 1,000 bytes, loads weights, and frees the weights. The test also builds changed versions.
#include <msleaks/api.h>

#include <stdlib.h>

enum { kKiB = 1024, kWeights = 100, kRemembered = 10 };

static void *remembered[kRemembered];

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

__attribute__((noinline)) static void load(void) {
  char *weights = malloc(kWeights * kKiB); // weights
  weights[0] = 1;
  free(used(weights));
}

__attribute__((noinline)) static void remember(int number) { remembered[number] = used(malloc(1000)); }

int main(void) {
  for (int i = 0; i < kRemembered; ++i)
    remember(i);
  load();
  msl_mark("freed");
  used(remembered);
  return 0;
}
