// Calls of a driver that does nothing: pairs of cudaMalloc and cudaFree, then launches.
//
//   usage: calls COUNT
//
// Prints `pair cpu X wall Y` and `launch cpu X wall Y`: ns of one.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  unsigned x, y, z;
} dim3;
int cudaMalloc(void **block, size_t size), cudaFree(void *block);
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream);

static double now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pair(void) {
  void *block;
  cudaMalloc(&block, 1000);
  cudaFree(block);
}
static void launch(void) {
  const dim3 grid = {4, 1, 1}, block = {256, 1, 1};
  cudaLaunchKernel((const void *)1, grid, block, NULL, 0, NULL);
}

static void measure(const char *what, void (*call)(void), long count) {
  const double cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = now_ns(CLOCK_MONOTONIC);
  for (long i = 0; i < count; ++i)
    call();
  printf("%s cpu %.3f wall %.3f\n", what, (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / (double)count,
         (now_ns(CLOCK_MONOTONIC) - wall_ns) / (double)count);
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000000;
  measure("pair", pair, count);
  measure("launch", launch, count);
  return 0;
}
