// Has the memory problem that the argument names, such as a leak in each step or an overwritten matrix.
// Runs on the stand-in of Ascend CANN. The program's caching allocator reports the allocated parts of
// its pool by MSTX.
#include "mstx.h"
#include "atb.h"

#include <msleaks/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kKib = 1 << 10, kMib = 1 << 20, kSteps = 6, kMatrix = 256 * 256 * 4 };

static void *pool;
static aclrtStream stream;

static void must(int status, const char *what) {
  if (status != 0) {
    printf("%s: %d\n", what, status);
    exit(1);
  }
}

// This is a macro, so that each use is a separate allocation site.
#define TAKE(block, bytes) must(aclrtMalloc((void **)&(block), (bytes), 0), #block)
static void give(void *block) { must(aclrtFree(block), "free"); }
// Uses a block by an operator of ATB, since msleaks can read the arguments of such an operator.
static void use(void *block, size_t bytes) {
  const atbTensor tensor = {block, bytes};
  must(atbExecute("AddOperation", &tensor, 1, &tensor, 1, NULL, 0, 0, stream), "operator");
}

// Allocates a part of the framework's pool.
static void *take_part(char *segment, size_t offset, size_t bytes) {
  const mstxMemVirtualRangeDesc_t part = {0, segment + offset, bytes};
  void *handle = NULL;
  const mstxMemRegionsRegisterBatch_t batch = {NULL, 0, 1, &part, &handle};
  mstxMemRegionsRegister(pool, &batch); // the pool
  return segment + offset;
}
static void give_part(void *part) {
  const mstxMemRegionRef_t ref = {0, part};
  const mstxMemRegionsUnregisterBatch_t back = {1, &ref};
  mstxMemRegionsUnregister(pool, &back);
}

// Each step leaks a tensor of 1 MiB, which is a part of the pool. Each step frees another tensor.
static void leak(void) {
  char *segment;
  TAKE(segment, 16 * kMib);
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t range = mstxRangeStartA("step start", NULL);
    void *temporary = take_part(segment, 8 * kMib, 512 * kKib);
    take_part(segment, (size_t)step * kMib, kMib);
    give_part(temporary);
    mstxRangeEnd(range);
  }
}

// From step 4 on, each step has one more tensor, and the tensor `larger` is larger.
static void compare(void) {
  for (int step = 1; step <= kSteps; ++step) {
    const uint64_t range = mstxRangeStartA("step start", NULL);
    void *same, *larger, *added = NULL;
    TAKE(same, kMib);                        // this size is the same in each step
    TAKE(larger, (step < 4 ? 1 : 3) * kMib); // larger
    if (step >= 4)
      TAKE(added, 2 * kMib); // added
    give(same);
    give(larger);
    if (added != NULL)
      give(added);
    mstxRangeEnd(range);
  }
}

struct loss {
  float *prediction;
  size_t count;
};

// The stand-in calls this kernel at each launch. In one step the kernel writes one row more than its matrix has.
static void mse_loss(const void *arguments, size_t size) {
  const struct loss *loss = arguments;
  for (size_t i = 0; size == sizeof *loss && i < loss->count; ++i)
    loss->prediction[i] = 0;
}

static void watch(void) {
  char *matrices;
  TAKE(matrices, 2 * kMatrix);
  float *const target = (float *)(matrices + kMatrix);
  must(aclrtMemset(matrices, 2 * kMatrix, 1, 2 * kMatrix), "fill");
  msl_watch(target, kMatrix, "target");
  for (int epoch = 1; epoch <= 3; ++epoch) {
    const struct loss loss = {(float *)matrices, 256 * (256 + (epoch == 2))};
    msl_step((uint64_t)epoch);
    msl_range_push("mse_loss");
    must(aclrtLaunchKernel((aclrtFuncHandle)(uintptr_t)mse_loss, 4, &loss, sizeof loss, stream), "launch"); // the loss
    msl_range_pop();
  }
  msl_unwatch(target);
  give(matrices);
}

// Allocates blocks for a module of the driver, for the framework's pool, and for an owner that the program names.
static void decompose(void) {
  void *buffer = NULL, *weights;
  char *segment;
  TAKE(segment, 8 * kMib);
  must(hcclBuffer(0, &buffer, 3 * kMib), "buffer of another library");
  msl_owner_push("train@weights");
  TAKE(weights, 2 * kMib);
  msl_owner_pop();
  void *part = take_part(segment, 0, kMib);
  use(weights, 2 * kMib);
  give_part(part);
  give(weights);
  give(segment);
  must(halMemFree(buffer), "free of the buffer");
}

// Allocates a block too early: other blocks are allocated and freed before its first use.
static void early(void) {
  void *early, *one, *two, *large;
  TAKE(early, 4 * kMib); // early
  TAKE(one, kMib);
  TAKE(two, kMib);
  use(one, kMib);
  use(two, kMib);
  give(one);
  give(two);
  TAKE(large, 8 * kMib);
  use(large, 8 * kMib);
  give(large);
  use(early, 4 * kMib);
  give(early);
}

// Frees a block too late: after its last use it is still alive while another block is allocated.
static void late(void) {
  void *late, *next;
  TAKE(late, 16 * kMib); // late
  use(late, 16 * kMib);
  TAKE(next, 20 * kMib);
  use(next, 20 * kMib);
  give(next);
  give(late);
}

// Allocates until there is no more memory.
static void out_of_memory(void) {
  void *largest, *block;
  TAKE(largest, 20 * kMib); // the largest
  for (int i = 0; i < 100; ++i)
    if (aclrtMalloc(&block, 8 * kMib, 0) != 0) { // refused
      printf("refused after %d\n", i);
      return;
    }
}

int main(int count, char **arguments) {
  const struct {
    const char *name;
    void (*run)(void);
  } topics[] = {{"leak", leak},           {"compare", compare},         {"watch", watch},
                {"decompose", decompose}, {"early", early},             {"late", late},
                {"oom", out_of_memory}};
  mstxInit();
  pool = mstxDomainCreateA("ptaCaching");
  must(aclInit(NULL), "init");
  must(aclrtSetDevice(0), "device");
  must(aclrtCreateStream(&stream), "stream");
  for (unsigned i = 0; count == 2 && i < sizeof topics / sizeof *topics; ++i)
    if (strcmp(arguments[1], topics[i].name) == 0)
      topics[i].run();
  must(aclrtDestroyStream(stream), "end of the stream");
  must(aclFinalize(), "finalize");
  puts("done");
  return 0;
}
