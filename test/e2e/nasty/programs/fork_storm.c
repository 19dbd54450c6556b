// Forks 200 children one after another and 30 at the same time, while another thread allocates. Each child allocates
// and ends by _exit.
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static void *churn(void *unused) {
  while (!stop)
    touch(100);
  return unused;
}

static void child(int number) {
  for (int i = 0; i < 10; ++i)
    touch(10 + i);
  _exit(number & 127);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, churn, NULL);
  long sum = 0;
  for (int i = 0; i < 200; ++i) {
    if (fork() == 0)
      child(i);
    int status;
    wait(&status);
    sum += WEXITSTATUS(status);
  }
  for (int i = 0; i < 30; ++i)
    if (fork() == 0)
      child(1);
  for (int status; wait(&status) > 0;)
    sum += WEXITSTATUS(status);
  stop = 1;
  pthread_join(thread, NULL);
  printf("%ld\n", sum);
  return 0;
}
