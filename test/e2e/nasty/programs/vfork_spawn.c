// Calls vfork and posix_spawn while another thread allocates. A child of vfork uses the parent's memory and stack.
#include "touch.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int stop;

static void *churn(void *unused) {
  while (!stop)
    touch(64);
  return unused;
}

int main(int count, char **words) {
  if (count > 1) {
    touch(10);
    return words[1][0] & 15;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, churn, NULL);
  int sum = 0, status;
  for (int i = 0; i < 20; ++i) {
    char *again[] = {words[0], i % 2 ? "1" : "2", NULL};
    pid_t child = vfork();
    if (child == 0) {
      execv("/proc/self/exe", again);
      _exit(100);
    }
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
    child = vfork();
    if (child == 0)
      _exit(3);
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
    posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ);
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
  }
  stop = 1;
  pthread_join(thread, NULL);
  printf("%d\n", sum);
  return 0;
}
