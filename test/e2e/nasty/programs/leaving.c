// The process ends by _exit or quick_exit while four other threads still run. Each of these threads
// has allocated a block, which is a leak.    usage: leaving _|q
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t ready;
static void *kept[4];

static void *churn(void *slot) {
  *(void **)slot = malloc(128);
  pthread_barrier_wait(&ready);
  for (;;)
    pause();
}

static void last(void) { touch(10); }

int main(int count, char **words) {
  pthread_barrier_init(&ready, NULL, 5);
  at_quick_exit(last);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, churn, &kept[i]);
    pthread_detach(thread);
  }
  pthread_barrier_wait(&ready);
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("leaked 512 4");
  if (count > 1 && words[1][0] == 'q')
    quick_exit(6);
  _exit(5);
}
