// Imitates three steps of a training. Each step leaks a small block, and a child process leaks
// one block. The numbers of the report are known for each part of the run.
#include <msleaks/api.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWeights = 1 << 20, kBatch = 1 << 18, kKept = 1 << 10, kChild = 3 << 16 };

static void *kept[4];

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
static void *used(void *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void step(int number) {
  msl_step((uint64_t)number);
  msl_range_push("forward");
  void *batch = used(malloc((size_t)kBatch * (size_t)number));
  msl_owner_push("net@cache");
  kept[number] = used(malloc(kKept));
  msl_owner_pop();
  msl_range_pop();
  free(used(batch));
}

int main(void) {
  void *weights = used(malloc(kWeights));
  msl_mark("loaded");
  const pid_t child = fork();
  if (child == 0) {
    kept[0] = used(malloc(kChild));
    exit(kept[0] == 0);
  }
  waitpid(child, 0, 0);
  usleep(2000); // separates the child's end from the first step, since the recorded end may be 100 us wrong
  for (int number = 1; number <= 3; ++number)
    step(number);
  msl_mark("done");
  free(used(weights));
  puts("3 steps");
  return 0;
}
