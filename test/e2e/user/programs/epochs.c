// Usage: epochs STEPS [kill]. Each step leaks a record and frees all batches but the last three. The
// program fills a cache once. At the end it frees its history or, with `kill`, ends by SIGKILL.
#include <msleaks/api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRecord = 3000, kBatch = 50000, kCached = 7000, kNote = 900, kKeptBatches = 3, kFullCache = 4, kMostSteps = 1000 };

static void *forgotten, *batches[kKeptBatches], *cache[kFullCache], *history[kMostSteps];

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void step(int number) {
  msl_step((uint64_t)number);
  forgotten = used(malloc(kRecord));
  free(batches[number % kKeptBatches]);
  batches[number % kKeptBatches] = used(malloc(kBatch));
  if (number < kFullCache)
    cache[number] = used(malloc(kCached));
  history[number] = used(malloc(kNote));
}

int main(int argc, char **argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 0;
  for (int number = 0; number < steps && number < kMostSteps; ++number)
    step(number);
  if (argc > 2 && strcmp(argv[2], "kill") == 0)
    raise(SIGKILL);
  for (int number = 0; number < kMostSteps; ++number)
    free(history[number]);
  for (int i = 0; i < kKeptBatches; ++i)
    free(batches[i]);
  printf("%d steps\n", steps);
  return 0;
}
