// Imitates a framework on Ascend that reports its caching allocator by MSTX, as torch_npu does. The pool is a block of
// the driver. The program allocates parts of it and leaks one part. Other pools allocate one part each. Ranges overlap.
#include "mstx.h"
#include "acl.h"

#include <stdio.h>
#include <string.h>

enum { kSegment = 1 << 20, kPart = 4096, kParts = 3 };

// Makes overlapping ranges, with and without a domain. The range that ends first is not the range that began last.
static void overlap(void) {
  void *domain = mstxDomainCreateA("communication");
  const uint64_t forward = mstxRangeStartA("forward", NULL);
  const uint64_t gather = mstxDomainRangeStartA(domain, "gather", NULL);
  const uint64_t backward = mstxRangeStartA("backward", NULL);
  mstxRangeEnd(forward);
  mstxDomainRangeEnd(domain, gather);
  mstxRangeEnd(backward);
  mstxDomainDestroy(domain);
}

// Allocates and frees a part of the pool that has the name `pool`.
static void hand_out_of(const char *pool, char *part) {
  const mstxMemVirtualRangeDesc_t range = {0, part, kPart};
  void *handle = NULL;
  const mstxMemRegionsRegisterBatch_t batch = {NULL, 0, 1, &range, &handle};
  void *domain = mstxDomainCreateA(pool);
  mstxMemRegionsRegister(domain, &batch);
  const mstxMemRegionRef_t ref = {1, handle};
  const mstxMemRegionsUnregisterBatch_t back = {1, &ref};
  mstxMemRegionsUnregister(domain, &back);
}

static void hand_out(void *pool, char *segment) {
  mstxMemVirtualRangeDesc_t parts[kParts];
  void *handles[kParts] = {0};
  for (int i = 0; i < kParts; ++i)
    parts[i] = (mstxMemVirtualRangeDesc_t){0, segment + i * kPart, kPart};
  const mstxMemRegionsRegisterBatch_t batch = {NULL, 0, kParts, parts, handles};
  mstxMemRegionsRegister(pool, &batch); // handed out
  const mstxMemRegionRef_t refs[] = {{0, parts[0].ptr}, {1, handles[1]}};
  const mstxMemRegionsUnregisterBatch_t back = {2, refs};
  mstxMemRegionsUnregister(pool, &back);
}

// Creates more domains than msleaks distinguishes. Each domain allocates one part, but the last two allocate two.
static int crowd(char *segment) {
  enum { kDomains = 34 };
  for (int i = 0; i < kDomains + 2; ++i) {
    char name[16];
    snprintf(name, sizeof name, "pool %d", i < kDomains ? i + 1 : i - 1);
    hand_out_of(name, segment + i * kPart);
  }
  puts("done");
  return 0;
}

int main(int count, char **arguments) {
  uint64_t tool = 0;
  void *segment = NULL;
  mstxInit();
  mstxGetToolId(&tool);
  void *pool = mstxDomainCreateA("ptaCaching");
  if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 || aclrtMalloc(&segment, kSegment, 0) != 0)
    return 1;
  const mstxMemVirtualRangeDesc_t all = {0, segment, kSegment};
  const mstxMemHeapDesc_t heap = {0, 0, &all};
  mstxMemHeapRegister(pool, &heap);
  if (count > 1 && strcmp(arguments[1], "crowd") == 0)
    return crowd(segment);
  for (int step = 0; step < 2; ++step) {
    const uint64_t range = mstxRangeStartA("step start", NULL);
    mstxMarkA("in a step", NULL);
    mstxRangeEnd(range);
  }
  mstxDomainMarkA(mstxDomainCreateA("communication"), "all reduce", NULL);
  overlap();
  hand_out(pool, segment);
  hand_out_of("ptaWorkspace", segment + 4 * kPart);
  hand_out_of("atb", segment + 5 * kPart);
  hand_out_of("mindsporeMemPool", segment + 6 * kPart);
  puts("done");
  return 0;
}
