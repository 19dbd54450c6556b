// Runs fibers on stacks in the heap, in mappings and in static memory. Fibers
// allocate at any call depth, switch to each other, and start again on a used stack.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kFibers = 6, kRounds = 600, kStack = 64 << 10 };
static ucontext_t fibers[kFibers], scheduler;
static char static_stacks[2][kStack] __attribute__((aligned(16)));
static int current, ended[kFibers];
static unsigned state = 1;
static unsigned random_number(unsigned below) { return (state = state * 1664525 + 1013904223) / 65536 % below; }

static void yield(void) {
  const unsigned next = random_number(2 * kFibers);
  const int self = current;
  if (next < kFibers && !ended[next] && (int)next != self) {
    current = (int)next;
    swapcontext(&fibers[self], &fibers[next]);
  } else {
    swapcontext(&fibers[self], &scheduler);
  }
}

static __attribute__((noinline)) void work(unsigned depth) {
  volatile char filler[80];
  filler[0] = 1;
  free(malloc(16 + depth));
  if (depth > 0)
    work(depth - 1);
  if (random_number(3) == 0)
    yield();
  free(malloc(100 + depth));
  filler[1] = 1;
}

static void run(int number, int rounds) {
  for (int i = 0; i < rounds; ++i)
    work(random_number(8));
  ended[number] = 1;
}

static void begin(int number, char *stack) {
  getcontext(&fibers[number]);
  fibers[number].uc_stack.ss_sp = stack;
  fibers[number].uc_stack.ss_size = kStack;
  fibers[number].uc_link = &scheduler;
  ended[number] = 0;
  makecontext(&fibers[number], (void (*)(void))run, 2, number, kRounds / 4);
}

int main(void) {
  char *stacks[kFibers] = {static_stacks[0], static_stacks[1]};
  for (int i = 2; i < kFibers; ++i)
    stacks[i] = i % 2 ? malloc(kStack) : mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int lives = 0; lives < 4; ++lives) {
    for (int i = 0; i < kFibers; ++i)
      begin(i, stacks[i]);
    for (int left = kFibers; left > 0;) {
      current = (int)random_number(kFibers);
      if (!ended[current])
        swapcontext(&scheduler, &fibers[current]);
      free(malloc(7)); // allocates on the thread's own stack, between two fibers
      left = 0;
      for (int i = 0; i < kFibers; ++i)
        left += !ended[i];
    }
  }
  for (int i = 2; i < kFibers; ++i)
    i % 2 ? free(stacks[i]) : (void)munmap(stacks[i], kStack);
  puts("done");
  return 0;
}
