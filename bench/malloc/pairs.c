// Measures the time of a pair of malloc and free at a given stack depth. Each thread has LIVE blocks of mixed sizes,
// and replaces them one by one.
//
//   usage: pairs DEPTH PAIRS [THREADS [LIVE]]      LIVE: blocks alive at once in each thread (1000)
//
// Prints `pair cpu X wall Y` for the slowest thread: the ns of one pair in processor time (CLOCK_THREAD_CPUTIME_ID) and
// in real time. bench/run.py runs this program alone, under msleaks-run and under heaptrack.
#define _GNU_SOURCE
#include "replace.h"

#include <pthread.h>
#include <stdio.h>

struct work {
  long pairs;
  int depth;
  size_t live;
  double cpu_ns, wall_ns; // of one pair
};

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
