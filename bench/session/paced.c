// Calls malloc and free at a constant rate, as a server does. bench/session_cost.py measures the end of its session.
//
//   usage: paced PAIRS PAIRS_PER_MS [LIVE]      LIVE: blocks alive at once (1000)
//
// At the end, prints the time of CLOCK_MONOTONIC in ns.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void sleepUntilNext(struct timespec *tick) {
  tick->tv_nsec += 1000000;
  if (tick->tv_nsec >= 1000000000) {
    tick->tv_nsec -= 1000000000;
    ++tick->tv_sec;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, tick, NULL);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const uint64_t pairs = strtoull(argv[1], NULL, 10), per_ms = strtoull(argv[2], NULL, 10);
  const uint64_t live = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
  void *volatile *blocks = calloc(live, sizeof *blocks);
  if (!blocks || per_ms == 0 || live == 0)
    return 2;
  struct timespec tick;
  clock_gettime(CLOCK_MONOTONIC, &tick);
  for (uint64_t i = 0; i < pairs; ++i) {
    void *volatile *block = &blocks[i * 7919 % live];
    free(*block);
    *block = malloc(16 + i % 5000);
    if (i % per_ms == per_ms - 1)
      sleepUntilNext(&tick);
  }
  clock_gettime(CLOCK_MONOTONIC, &tick);
  printf("%lld\n", (long long)tick.tv_sec * 1000000000 + tick.tv_nsec);
  return 0;
}
