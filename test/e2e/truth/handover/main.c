// Half of the threads allocate blocks, and the other half free them immediately. They pass the blocks through atomic
// slots with acquire and release ordering, so a free follows its allocation as soon as possible.
//
//   usage: main THREADS PAIRS      half of the threads allocate, the other half free
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { kSlots = 64, kMostThreads = 64 };

struct channel {
  _Alignas(64) _Atomic(void *) slots[kSlots];
  long pairs;
};
static struct channel channels[kMostThreads / 2];

// Waits for the other thread. Every 256th call yields: on a small machine the other thread may need this processor.
static void spin(void) {
  static _Thread_local unsigned spins;
  if (++spins % 256 == 0)
    sched_yield();
}

static void *allocate(void *argument) {
  struct channel *channel = argument;
  for (long i = 0; i < channel->pairs; ++i) {
    _Atomic(void *) *slot = &channel->slots[i % kSlots];
    void *block = malloc(16 + (size_t)(i % 61));
    while (atomic_load_explicit(slot, memory_order_relaxed) != NULL)
      spin();
    atomic_store_explicit(slot, block, memory_order_release);
  }
  return NULL;
}

static void *release(void *argument) {
  struct channel *channel = argument;
  for (long i = 0; i < channel->pairs; ++i) {
    _Atomic(void *) *slot = &channel->slots[i % kSlots];
    void *block;
    while ((block = atomic_load_explicit(slot, memory_order_acquire)) == NULL)
      spin();
    free(block);
    atomic_store_explicit(slot, NULL, memory_order_release);
  }
  return NULL;
}

int main(int argc, char **argv) {
  const int threads = argc > 2 ? atoi(argv[1]) : 0;
  if (threads < 2 || threads > kMostThreads || threads % 2 != 0)
    return 2;
  pthread_t ids[kMostThreads];
  for (int i = 0; i < threads; ++i) {
    channels[i / 2].pairs = atol(argv[2]) / (threads / 2);
    pthread_create(&ids[i], NULL, i % 2 == 0 ? allocate : release, &channels[i / 2]);
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(ids[i], NULL);
}
