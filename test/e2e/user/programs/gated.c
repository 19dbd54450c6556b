// Usage: gated [kill]. Has a known leak and a known peak, which are larger with -DWORSE. With `kill` SIGKILL ends it.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWork = 1000000, kMore = 30000, kKept = 4000, kForgotten = 50 };

static void *kept[2], *forgotten;

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void fill(int number) {
  kept[number] = used(malloc(kKept));
}

static void work(void) {
#ifdef WORSE
  forgotten = used(malloc(kForgotten));
  void *scratch = used(malloc(kWork + kMore));
#else
  void *scratch = used(malloc(kWork));
#endif
  free(used(scratch));
}

int main(int argc, char **argv) {
  for (int number = 0; number < 2; ++number)
    fill(number);
  work();
  if (argc > 1 && strcmp(argv[1], "kill") == 0)
    raise(SIGKILL);
  puts(forgotten ? "worse" : "done");
  return 0;
}
