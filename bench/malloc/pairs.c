// malloc+free pairs at a given stack depth: 1,000 live blocks of mixed sizes, replaced one by one.
//
//   usage: pairs DEPTH PAIRS [THREADS]
//
// Prints the CPU time of one pair in ns (CLOCK_THREAD_CPUTIME_ID of the slowest thread). The same program is run
// plain, under msleaks-run and under heaptrack.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kLive = 1000 };

struct work {
  long pairs;
  int depth;
  double ns_per_pair;
};

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

// Kept from being a tail call and from being inlined, so that `depth` frames really stand on the stack.
__attribute__((noinline)) static int descend(int depth, void **slot, size_t size) {
  if (depth == 0)
    return replace(slot, size), 0;
  const int below = descend(depth - 1, slot, size);
  __asm__ volatile("" ::: "memory");
  return below + 1;
}

static void *run(void *argument) {
  struct work *work = argument;
  void *live[kLive] = {0};
  uint64_t random = 88172645463325252u ^ (uintptr_t)argument;
  struct timespec begin, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (long i = 0; i < work->pairs; ++i) {
    const uint64_t bits = next(&random);
    descend(work->depth, &live[bits % kLive], 16 + (bits >> 20) % 2000);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  for (int i = 0; i < kLive; ++i)
    free(live[i]);
  work->ns_per_pair =
      ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)work->pairs;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fputs("usage: pairs DEPTH PAIRS [THREADS]\n", stderr), 2;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  pthread_t ids[64];
  struct work work[64];
  double slowest = 0;
  for (int i = 0; i < threads && i < 64; ++i) {
    work[i] = (struct work){atol(argv[2]), atoi(argv[1]), 0};
    pthread_create(&ids[i], NULL, run, &work[i]);
  }
  for (int i = 0; i < threads && i < 64; ++i) {
    pthread_join(ids[i], NULL);
    if (work[i].ns_per_pair > slowest)
      slowest = work[i].ns_per_pair;
  }
  printf("%.2f\n", slowest);
  return 0;
}
