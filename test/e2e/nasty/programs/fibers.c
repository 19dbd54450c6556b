// Runs fibers on stacks in the heap. Fibers yield inside an annotated allocator, so its calls can end in any order.
// Since each fiber has a stack of its own, stack addresses do not tell msleaks which call is inside another.
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { kFibers = 8, kRounds = 50, kStack = 64 << 10 };
static ucontext_t fibers[kFibers], scheduler;
static int current, ended[kFibers];
static void *blocks[kFibers];

static void yield(void) { swapcontext(&fibers[current], &scheduler); }

__attribute__((noinline, annotate("msleaks.alloc"))) void *get(size_t size) {
  yield();
  void *block = malloc(size);
  yield();
  return block;
}
__attribute__((noinline, annotate("msleaks.free"))) void put(void *block) {
  yield();
  free(block);
}

static void run(int number) {
  for (int i = 0; i < kRounds; ++i) {
    blocks[number] = get(10 + number);
    void *inner = malloc(200);
    yield();
    free(inner);
    put(blocks[number]);
  }
  blocks[number] = get(1000);
  ended[number] = 1;
}

int main(void) {
  char *stacks[kFibers];
  for (int i = 0; i < kFibers; ++i) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i] = malloc(kStack);
    fibers[i].uc_stack.ss_size = kStack;
    fibers[i].uc_link = &scheduler;
    makecontext(&fibers[i], (void (*)(void))run, 1, i);
  }
  unsigned random = 1;
  for (int left = kFibers; left > 0;) {
    random = random * 1103515245 + 12345;
    current = random >> 16 & (kFibers - 1);
    if (ended[current] == 2)
      continue;
    swapcontext(&scheduler, &fibers[current]);
    if (ended[current] == 1) {
      ended[current] = 2;
      --left;
    }
  }
  for (int i = 0; i < kFibers; ++i)
    free(stacks[i]);
  printf("leaked %d %d\n", 1000 * kFibers, kFibers);
  return 0;
}
