// Makes system calls that do nothing, and prints the nanoseconds of one: `call cpu NS wall NS`.
//
//   getppid CALLS
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 900000;
  const double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
  for (long i = 0; i < calls; ++i)
    syscall(SYS_getppid);
  printf("call cpu %.1f wall %.1f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)calls, (now(CLOCK_MONOTONIC) - wall) / (double)calls);
  return 0;
}
