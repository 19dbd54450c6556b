// Usage: rounds HOW [kill]. Each round of a loop works on a batch, frees it, and keeps a
// record. The program reports no steps. HOW: with `regular` all rounds do the same, with
// `random` each round does different work, and with `collect` a round only keeps a record.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 300, kRecord = 700, kBatch = 60000, kToken = 40, kTokens = 5, kWorkUs = 200 };

static void *records[kRounds];

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void work(int tokens) {
  void *batch = used(malloc(kBatch)); // the batch
  for (int i = 0; i < tokens; ++i)
    free(used(malloc(kToken)));
  usleep(kWorkUs);
  free(batch);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  for (int round = 0; round < kRounds; ++round) {
    if (strcmp(how, "collect") != 0)
      work(strcmp(how, "random") == 0 ? rand() % 50 : kTokens);
    else
      usleep(kWorkUs);
    records[round] = used(malloc(kRecord)); // kept
  }
  if (argc > 2 && strcmp(argv[2], "kill") == 0)
    raise(SIGKILL);
  for (int round = 0; round < kRounds; ++round)
    free(records[round]);
  puts("done");
  return 0;
}
