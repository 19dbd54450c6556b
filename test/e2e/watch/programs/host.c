// Imitates a training on the host, in one pool. In step 2 an operator writes past its activations, into the watched
// weights. The operator sgd writes the weights while they are not watched.
#include <msleaks/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kActivations = 4096, kWeights = 8192, kOffset = 128, kStray = 16 };

static char *activations, *weights;

static void relu(int step, int is_mended) {
  msl_range_push("relu"); // tramples
  memset(activations, step, kActivations);
  if (step == 2 && !is_mended)
    memset(activations + kActivations + kOffset, 77, kStray);
  msl_range_pop();
}

static void sgd(void) {
  msl_range_push("sgd");
  msl_unwatch(weights);
  for (int i = 0; i < kWeights; ++i)
    weights[i] += 1;
  msl_watch(weights, kWeights, "weights");
  msl_range_pop();
}

// Frees a block and unmaps another one while they are watched.
static void forget(void) {
  char *block = malloc(1 << 20);
  msl_watch(block, 1 << 20, "freed");
  free(block);
  char *mapping = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  msl_watch(mapping, 1 << 16, "unmapped");
  munmap(mapping, 1 << 16);
  msl_unwatch(&block);
}

static void fork_one(void) {
  const pid_t child = fork();
  if (child == 0) {
    msl_range_push("child");
    memset(weights, 1, kWeights);
    msl_range_pop();
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int count, char **arguments) {
  const int is_mended = count > 1 && strcmp(arguments[1], "mended") == 0;
  char *pool = calloc(1, kActivations + kWeights);
  activations = pool;
  weights = pool + kActivations;
  forget();
  msl_watch(weights, kWeights, "weights");
  for (int step = 1; step <= 3; ++step) {
    msl_step((uint64_t)step);
    relu(step, is_mended);
    sgd();
  }
  fork_one();
  int sum = 0;
  for (int i = 0; i < kWeights; ++i)
    sum += weights[i];
  printf("sum %d\n", sum);
  free(pool);
  return 0;
}
