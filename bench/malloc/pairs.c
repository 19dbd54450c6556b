// Measures the time of a pair of malloc and free at a given stack depth. Each thread has LIVE blocks of mixed sizes,
// and replaces them one by one.
//
//   usage: pairs DEPTH PAIRS [THREADS [LIVE]]      LIVE: blocks alive at once in each thread (1000)
//
// Prints `pair cpu X wall Y` for the slowest thread: the ns of one pair in processor time (CLOCK_THREAD_CPUTIME_ID) and
// in real time. bench/run.py runs this program alone, under msleaks-run and under heaptrack.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct work {
  long pairs;
  int depth;
  size_t live;
  double cpu_ns, wall_ns; // of one pair
};

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

static void *run(void *argument) {
  struct work *work = argument;
  void **live = calloc(work->live, sizeof *live);
  uint64_t random = 88172645463325252u ^ (uintptr_t)argument;
  const double cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = now_ns(CLOCK_MONOTONIC);
  for (long i = 0; i < work->pairs; ++i) {
    const uint64_t bits = next(&random);
    descend(work->depth, &live[bits % work->live], 16 + (bits >> 20) % 2000);
  }
  work->cpu_ns = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / (double)work->pairs;
  work->wall_ns = (now_ns(CLOCK_MONOTONIC) - wall_ns) / (double)work->pairs;
  for (size_t i = 0; i < work->live; ++i)
    free(live[i]);
  free(live);
  return NULL;
}

static double larger(double a, double b) { return a > b ? a : b; }

int main(int argc, char **argv) {
  if (argc < 3)
    return fputs("usage: pairs DEPTH PAIRS [THREADS [LIVE]]\n", stderr), 2;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  const size_t live = argc > 4 ? strtoul(argv[4], NULL, 10) : 1000;
  pthread_t ids[64];
  struct work work[64];
  for (int i = 0; i < threads && i < 64; ++i) {
    work[i] = (struct work){atol(argv[2]), atoi(argv[1]), live, 0, 0};
    pthread_create(&ids[i], NULL, run, &work[i]);
  }
  double cpu_ns = 0, wall_ns = 0;
  for (int i = 0; i < threads && i < 64; ++i) {
    pthread_join(ids[i], NULL);
    cpu_ns = larger(cpu_ns, work[i].cpu_ns);
    wall_ns = larger(wall_ns, work[i].wall_ns);
  }
  printf("pair cpu %.2f wall %.2f\n", cpu_ns, wall_ns);
  return 0;
}
