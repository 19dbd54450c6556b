// Four threads allocate blocks, and four other threads free them immediately. msleaks must never record a free before
// the malloc of the same block.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPairs = 4, kBlocks = 100000 };
static struct {
  _Alignas(128) void *slot;
} pairs[kPairs];

static void *gives(void *number) {
  void **slot = &pairs[(long)number].slot;
  for (int i = 0; i < kBlocks; ++i) {
    void *block = malloc(32);
    while (__atomic_load_n(slot, __ATOMIC_ACQUIRE))
      sched_yield();
    __atomic_store_n(slot, block, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void *takes(void *number) {
  void **slot = &pairs[(long)number].slot;
  for (int i = 0; i < kBlocks; ++i) {
    void *block;
    for (int turns = 0; !(block = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQUIRE));)
      if (++turns % 64 == 0)
        sched_yield();
    free(block);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2 * kPairs];
  for (long i = 0; i < 2 * kPairs; ++i)
    pthread_create(&threads[i], NULL, i % 2 ? takes : gives, (void *)(i / 2));
  for (int i = 0; i < 2 * kPairs; ++i)
    pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
