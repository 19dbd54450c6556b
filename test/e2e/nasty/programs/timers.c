// A timer's signal handler maps and unmaps at any moment, even while malloc or free runs or msleaks
// records one of these calls. A handler may do so, since mmap is a system call.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

static volatile long ticks;

static void tick(int signal) {
  int before = errno;
  void *block = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *(volatile char *)block = (char)signal;
  munmap(block, 4096);
  errno = before;
  ++ticks;
}

int main(void) {
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  void *blocks[16] = {0};
  for (long i = 0; ticks < 300; ++i) {
    free(blocks[i % 16]);
    blocks[i % 16] = malloc(i % 1000 + 1);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < 16; ++i)
    free(blocks[i]);
  puts("done");
  return 0;
}
