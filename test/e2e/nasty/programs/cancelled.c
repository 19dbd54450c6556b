// The program cancels threads in a system call, and asynchronously at any instruction.
// Cleanup handlers and destructors of thread keys free the blocks of a cancelled thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_key_t key;
static pthread_barrier_t ready;

static void *waits(void *unused) {
  pthread_setspecific(key, malloc(40));
  void *block = strdup("freed by a cleanup handler");
  pthread_cleanup_push(free, block);
  pthread_barrier_wait(&ready);
  for (;;)
    pause();
  pthread_cleanup_pop(1);
  return unused;
}

static void *spins(void *unused) {
  pthread_setspecific(key, malloc(50));
  void *block = malloc(60);
  pthread_cleanup_push(free, block);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  pthread_barrier_wait(&ready);
  for (volatile int turn = 0;; ++turn)
    ;
  pthread_cleanup_pop(1);
  return unused;
}

int main(void) {
  pthread_key_create(&key, free);
  pthread_barrier_init(&ready, NULL, 2);
  int cancelled = 0;
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, i % 2 ? waits : spins, NULL);
    pthread_barrier_wait(&ready);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  printf("%d\n", cancelled);
  return 0;
}
