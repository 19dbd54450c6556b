// Usage: churn COUNTS THREADS PAIRS. Threads allocate and free, and count their calls in the shared file COUNTS.
//
// A thread counts a call after its return, so msleaks has recorded each counted call. The sizes of a
// thread's allocations are 1000, 1001, … 5999, 1000, …, so a test can see that an event is missing.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMaxThreads = 16 };

struct counts {
  _Atomic uint64_t pid;
  struct {
    _Alignas(64) _Atomic uint64_t returned; // number of malloc and free calls that have returned
  } threads[kMaxThreads];
};

static struct counts *counts;
static uint64_t pairs;

static void *churn(void *argument) {
  const uintptr_t number = (uintptr_t)argument;
  char name[16];
  snprintf(name, sizeof name, "churn%d", (int)number);
  pthread_setname_np(pthread_self(), name);
  _Atomic uint64_t *returned = &counts->threads[number].returned;
  for (uint64_t i = 0; i < pairs; ++i) {
    void *volatile block = malloc(1000 + i % 5000);
    atomic_fetch_add_explicit(returned, 1, memory_order_release);
    free(block);
    atomic_fetch_add_explicit(returned, 1, memory_order_release);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  const int threads = atoi(argv[2]);
  pairs = strtoull(argv[3], NULL, 10);
  const int file = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (threads > kMaxThreads || file < 0 || ftruncate(file, sizeof *counts) != 0)
    return 2;
  counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counts == MAP_FAILED)
    return 2;
  atomic_store(&counts->pid, (uint64_t)getpid());
  pthread_t running[kMaxThreads];
  for (int i = 0; i < threads; ++i)
    pthread_create(&running[i], NULL, churn, (void *)(uintptr_t)i);
  for (int i = 0; i < threads; ++i)
    pthread_join(running[i], NULL);
  puts("done");
  return 0;
}
