// Compares a pair of malloc and free in instrumented code with a pair in plain code. Both codes run in one process, in
// turns of 5,000 pairs each. So other work on the machine disturbs both codes alike.
//
//   usage: sides DEPTH TURNS
//
// Prints `hooked X instrumented Y`: the ns of processor time of one pair, each the median of all turns.
#define _GNU_SOURCE
#include "replace.h"

#include <stdio.h>

enum { kPairs = 5000, kLive = 1000 };

typedef void side(int depth, void **live, size_t count, uint64_t *random, long pairs);
side hooked, instrumented;

static double turn(side *replaces, int depth, void **live, uint64_t *random) {
  const double before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
  replaces(depth, live, kLive, random, kPairs);
  return (now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) / kPairs;
}

static int order(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, order);
  return values[count / 2];
}

int main(int argc, char **argv) {
  if (argc != 3 || atol(argv[2]) < 1)
    return fputs("usage: sides DEPTH TURNS\n", stderr), 2;
  const int depth = atoi(argv[1]);
  const size_t turns = strtoul(argv[2], NULL, 10);
  void **live = calloc(kLive, sizeof *live);
  double *of_hooked = calloc(turns, sizeof *of_hooked), *of_instrumented = calloc(turns, sizeof *of_instrumented);
  uint64_t random = 0x9e3779b97f4a7c15u;
  turn(hooked, depth, live, &random); // the first turns make the ring and the blocks
  turn(instrumented, depth, live, &random);
  for (size_t i = 0; i < turns; ++i) {
    const int first = i % 2 == 0;
    if (first)
      of_hooked[i] = turn(hooked, depth, live, &random);
    of_instrumented[i] = turn(instrumented, depth, live, &random);
    if (!first)
      of_hooked[i] = turn(hooked, depth, live, &random);
  }
  printf("hooked %.2f instrumented %.2f\n", median(of_hooked, turns), median(of_instrumented, turns));
  return 0;
}
