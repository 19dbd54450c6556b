// Watches blocks in rare situations: forks, signals, long names, no memory, and unmapped addresses.
#include <msleaks/api.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 1 << 16, kName = 8192, kForks = 20 };

static volatile int stop = 0;
static char shared[kBytes];

static void operate(const char *name, char *block) {
  msl_range_push(name);
  block[0] = (char)(block[0] + 1);
  msl_range_pop();
}

static void *operate_always(void *argument) {
  while (!stop)
    operate("always", argument);
  return NULL;
}

// A signal handler that can run at any instruction, even while msleaks reads a watched block.
static void on_alarm(int signal) {
  (void)signal;
  msl_range_push("handler");
  msl_range_pop();
}

// Forks children while msleaks reads a watched block in other threads.
static int fork_meanwhile(void) {
  int failed = 0;
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      operate("child", shared);
      msl_watch(shared, kBytes, "of the child");
      operate("child", shared);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  return failed;
}

static void long_names(void) {
  char *name = malloc(kName);
  memset(name, 'n', kName - 1);
  name[kName - 1] = 0;
  msl_watch(shared, kBytes, name);
  operate(name, shared);
  msl_unwatch(shared);
  free(name);
}

// Limits the address space while a watch begins, so msleaks gets no memory for its copy of the block.
static void without_memory(void) {
  struct rlimit before, none;
  getrlimit(RLIMIT_AS, &before);
  none = before;
  none.rlim_cur = 1;
  char *large = mmap(NULL, 1 << 26, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  setrlimit(RLIMIT_AS, &none);
  msl_watch(large, 1 << 26, "too large");
  setrlimit(RLIMIT_AS, &before);
  operate("after", shared);
  munmap(large, 1 << 26);
}

static void nowhere(void) {
  msl_watch((void *)1, 16, "nowhere");
  msl_watch((void *)-4096, 1 << 20, "beyond");
  operate("between", shared);
  msl_unwatch((void *)1);
  msl_unwatch((void *)-4096);
  msl_unwatch((void *)12345);
}

int main(void) {
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  pthread_t threads[2];
  signal(SIGALRM, on_alarm);
  long_names();
  nowhere();
  without_memory();
  msl_watch(shared, kBytes, "shared");
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, operate_always, shared) != 0)
      return 1;
  setitimer(ITIMER_REAL, &often, NULL);
  const int failed = fork_meanwhile();
  setitimer(ITIMER_REAL, &never, NULL);
  stop = 1;
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  printf("%d children failed\n", failed);
  return 0;
}
