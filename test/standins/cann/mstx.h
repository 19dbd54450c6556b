// Replaces the header of MSTX. It finds the tool's function InitInjectionMstx in the process, and passes tables of
// function pointers to the tool. The original header also finds a tool by the variable MSTX_INJECTION_PATH.
#pragma once

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*mstxFunction)(void);
typedef int (*mstxTableOf)(int module, mstxFunction ***table, unsigned *last);

typedef struct {
  uint32_t deviceId;
  const void *ptr;
  uint64_t size;
} mstxMemVirtualRangeDesc_t;
typedef struct {
  int usage, type;
  const void *typeSpecificDesc;
} mstxMemHeapDesc_t;
typedef struct {
  void *heap;
  int regionType;
  size_t regionCount;
  const void *regionDescArray;
  void **regionHandleArrayOut;
} mstxMemRegionsRegisterBatch_t;
typedef struct {
  int refType;
  const void *pointer;
} mstxMemRegionRef_t;
typedef struct {
  size_t refCount;
  const mstxMemRegionRef_t *refArray;
} mstxMemRegionsUnregisterBatch_t;

static struct {
  mstxFunction core[4], domain[5], memory[4];
} mstx;
static mstxFunction *mstxCore[] = {0, &mstx.core[0], &mstx.core[1], &mstx.core[2], &mstx.core[3], 0};
static mstxFunction *mstxDomains[] = {
    0, &mstx.domain[0], &mstx.domain[1], &mstx.domain[2], &mstx.domain[3], &mstx.domain[4], 0};
static mstxFunction *mstxMemory[] = {0, &mstx.memory[0], &mstx.memory[1], &mstx.memory[2], &mstx.memory[3], 0};

static int mstxTable(int module, mstxFunction ***table, unsigned *last) {
  mstxFunction **const tables[] = {0, mstxCore, mstxDomains, mstxMemory};
  const unsigned counts[] = {0, sizeof mstxCore, sizeof mstxDomains, sizeof mstxMemory};
  if (module < 1 || module > 3)
    return 1;
  *table = tables[module];
  *last = counts[module] / sizeof(void *) - 1;
  return 0;
}

static void mstxInit(void) {
  int (*init)(mstxTableOf) = (int (*)(mstxTableOf))dlsym(RTLD_DEFAULT, "InitInjectionMstx");
  if (init != NULL)
    init(mstxTable);
}

#define MSTX_CALL(result, table, number, parameters, none, ...)                                                        \
  (mstx.table[(number) - 1] != NULL ? ((result(*) parameters)mstx.table[(number) - 1])(__VA_ARGS__) : none)

static inline void mstxMarkA(const char *text, void *stream) {
  MSTX_CALL(void, core, 1, (const char *, void *), (void)0, text, stream);
}
static inline uint64_t mstxRangeStartA(const char *text, void *stream) {
  return MSTX_CALL(uint64_t, core, 2, (const char *, void *), 0, text, stream);
}
static inline void mstxRangeEnd(uint64_t id) { MSTX_CALL(void, core, 3, (uint64_t), (void)0, id); }
static inline void mstxGetToolId(uint64_t *id) { MSTX_CALL(void, core, 4, (uint64_t *), (void)0, id); }
static inline void *mstxDomainCreateA(const char *name) {
  return MSTX_CALL(void *, domain, 1, (const char *), NULL, name);
}
static inline void mstxDomainDestroy(void *domain) { MSTX_CALL(void, domain, 2, (void *), (void)0, domain); }
static inline void mstxDomainMarkA(void *domain, const char *text, void *stream) {
  MSTX_CALL(void, domain, 3, (void *, const char *, void *), (void)0, domain, text, stream);
}
static inline uint64_t mstxDomainRangeStartA(void *domain, const char *text, void *stream) {
  return MSTX_CALL(uint64_t, domain, 4, (void *, const char *, void *), 0, domain, text, stream);
}
static inline void mstxDomainRangeEnd(void *domain, uint64_t id) {
  MSTX_CALL(void, domain, 5, (void *, uint64_t), (void)0, domain, id);
}
static inline void *mstxMemHeapRegister(void *domain, const mstxMemHeapDesc_t *heap) {
  return MSTX_CALL(void *, memory, 1, (void *, const void *), NULL, domain, heap);
}
static inline void mstxMemRegionsRegister(void *domain, const mstxMemRegionsRegisterBatch_t *batch) {
  MSTX_CALL(void, memory, 3, (void *, const void *), (void)0, domain, batch);
}
static inline void mstxMemRegionsUnregister(void *domain, const mstxMemRegionsUnregisterBatch_t *batch) {
  MSTX_CALL(void, memory, 4, (void *, const void *), (void)0, domain, batch);
}
