// Runs 2,000 threads one after another, then 500 threads at the same time. Each thread allocates and frees. It passes
// its last block to the next thread, which frees it.
#include "touch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all;
static void *handed;

static void *one(void *unused) {
  for (int i = 0; i < 20; ++i)
    touch(i + 1);
  void *mine = malloc(64);
  free(__atomic_exchange_n(&handed, mine, __ATOMIC_ACQ_REL));
  return unused;
}

static void *together(void *unused) {
  pthread_barrier_wait(&all);
  return one(unused);
}

int main(void) {
  enum { kAtOnce = 500 };
  for (int i = 0; i < 2000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, one, NULL) != 0)
      return 9;
    pthread_join(thread, NULL);
  }
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  pthread_barrier_init(&all, NULL, kAtOnce);
  static pthread_t threads[kAtOnce];
  for (int i = 0; i < kAtOnce; ++i)
    if (pthread_create(&threads[i], &small, together, NULL) != 0)
      return 9;
  for (int i = 0; i < kAtOnce; ++i)
    pthread_join(threads[i], NULL);
  free(handed);
  puts("done");
  return 0;
}
