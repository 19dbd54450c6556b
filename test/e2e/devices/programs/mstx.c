// A framework on Ascend that tells of its caching allocator by MSTX, as torch_npu does: a block of the driver, and what
// it hands out of it. One part is forgotten.
#include "mstx.h"
#include "acl.h"

#include <stdio.h>
#include <string.h>

enum { kSegment = 1 << 20, kPart = 4096, kParts = 3 };

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

int main(void) {
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
  for (int step = 0; step < 2; ++step) {
    const uint64_t range = mstxRangeStartA("step start", NULL);
    mstxMarkA("in a step", NULL);
    mstxRangeEnd(range);
  }
  mstxDomainMarkA(mstxDomainCreateA("communication"), "all reduce", NULL);
  hand_out(pool, segment);
  puts("done");
  return 0;
}
