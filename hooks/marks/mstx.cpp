// Records what programs on Ascend report by MSTX: marks, ranges, and the pools of frameworks. MSTX's header, which
// torch_npu and MindSpore use, looks up InitInjectionMstx in the process.
//
// A framework's pool is a domain. A region that it registers is a part of a block that it has handed out. The driver's
// hooks record the block itself.
#include "frameworks/reported_part.h"
#include "marks/injection.h"

#include "msleaks/api.h"
#include "msleaks/runtime/fnv.h"

#include <cstdio>
#include <cstring>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

using Stream = const void *;

struct Domain {
  char name[64]; // empty: the entry is free
};
struct MemoryRange {
  uint32_t device;
  const void *address;
  uint64_t bytes;
};
struct HeapDescription {
  uint32_t usage, type;
  const MemoryRange *range;
};
struct Regions {
  const void *heap;
  uint32_t type;
  size_t count;
  const MemoryRange *ranges;
  const void **handles; // the call stores the handles here
};
struct RegionRef {
  uint32_t type;
  const void *region; // the region's address, which is also its handle
};
struct RegionRefs {
  size_t count;
  const RegionRef *regions;
};

// A domain consists of its name. The domains that have no room in the table share one name.
constexpr uint32_t kDomains = 32, kCountedDomains = 1024;
Domain domains[kDomains];
Domain other_domains = {"other domains"};
uint64_t later_names[kCountedDomains]; // hashes of the names that had no room in the table; 0 = free
uint32_t domain_lock = 0;

class DomainsLocked {
public:
  DomainsLocked() {
    while (__atomic_exchange_n(&domain_lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
  }
  ~DomainsLocked() { __atomic_store_n(&domain_lock, 0, __ATOMIC_RELEASE); }
  DomainsLocked(const DomainsLocked &) = delete;
  DomainsLocked &operator=(const DomainsLocked &) = delete;
};

// Returns null if there is no room for another domain.
const Domain *placedDomain(const char *name) {
  for (Domain &domain : domains) {
    if (domain.name[0] == 0)
      std::strncpy(domain.name, name, sizeof domain.name - 1);
    if (std::strncmp(domain.name, name, sizeof domain.name - 1) == 0)
      return &domain;
  }
  return nullptr;
}

// Returns the domain's number, from 1; 0 = the domain was counted before, or there is no room to count it.
uint32_t countDomain(const char *name) {
  const uint64_t hash = runtime::fnv(runtime::kFnvBegin, name, std::strlen(name));
  for (uint32_t i = 0; i < kCountedDomains; ++i) {
    if (later_names[i] == hash)
      return 0;
    if (later_names[i] == 0) {
      later_names[i] = hash;
      return kDomains + i + 1;
    }
  }
  return 0;
}

const Domain *domainOf(const char *name) {
  uint32_t number = 0;
  {
    const DomainsLocked locked;
    if (const Domain *const placed = placedDomain(name))
      return placed;
    number = countDomain(name);
  }
  if (number != 0) {
    char note[256];
    std::snprintf(note, sizeof note, "MSTX: domain %u, %.64s, is one domain too many: the owner of its blocks is %s",
                  number, name, other_domains.name);
    __msl_note(note);
  }
  return &other_domains;
}

void mark(const char *text, Stream) { msl_mark(text); }

uint64_t steps = 0;

// The text "step start" begins a step, as in msMemScope.
uint64_t start(const char *text, Stream) {
  if (text != nullptr && std::strcmp(text, "step start") == 0)
    msl_step(__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED));
  return msl_range_start(text);
}
void end(uint64_t range) { msl_range_end(range); }
void toolId(uint64_t *id) {
  constexpr uint64_t kMsleaks = 0x1003;
  if (id != nullptr)
    *id = kMsleaks;
}

const Domain *create(const char *name) { return domainOf(name != nullptr && name[0] != 0 ? name : "default"); }
void destroy(const Domain *) {}
void domainMark(const Domain *, const char *text, Stream stream) { mark(text, stream); }
uint64_t domainStart(const Domain *, const char *text, Stream stream) { return start(text, stream); }
void domainEnd(const Domain *, uint64_t range) { end(range); }

void handOut(const Domain *domain, const MemoryRange &range, const void *caller) {
  msl_owner_push(domain != nullptr ? domain->name : nullptr);
  recordPart(range.address, range.bytes, range.device, caller);
  msl_owner_pop();
}

const void *registerHeap(const Domain *, const HeapDescription *heap) {
  return heap != nullptr && heap->range != nullptr ? heap->range->address : nullptr;
}
void unregisterHeap(const Domain *, const void *) {}

void registerRegions(const Domain *domain, const Regions *regions) {
  for (size_t i = 0; regions != nullptr && regions->ranges != nullptr && i < regions->count; ++i) {
    handOut(domain, regions->ranges[i], __builtin_return_address(0));
    if (regions->handles != nullptr)
      regions->handles[i] = regions->ranges[i].address;
  }
}
void unregisterRegions(const Domain *, const RegionRefs *refs) {
  for (size_t i = 0; refs != nullptr && refs->regions != nullptr && i < refs->count; ++i)
    recordPartFreed(refs->regions[i].region, __builtin_return_address(0));
}

using TableOf = int(int module, AnyFunction ***functions, unsigned *count);

FunctionTable tableOf(TableOf *ask, int module) {
  AnyFunction **functions = nullptr;
  unsigned last = 0; // number of the last function
  return ask(module, &functions, &last) == 0 ? FunctionTable(functions, last) : FunctionTable(nullptr, 0);
}

void fillCore(const FunctionTable &core) {
  core.set(1, mark);
  core.set(2, start);
  core.set(3, end);
  core.set(4, toolId);
}
void fillDomains(const FunctionTable &table) {
  table.set(1, create);
  table.set(2, destroy);
  table.set(3, domainMark);
  table.set(4, domainStart);
  table.set(5, domainEnd);
}
void fillMemory(const FunctionTable &table) {
  table.set(1, registerHeap);
  table.set(2, unregisterHeap);
  table.set(3, registerRegions);
  table.set(4, unregisterRegions);
}

} // namespace

extern "C" [[gnu::visibility("default")]] int InitInjectionMstx(TableOf *table) {
  constexpr int kDone = 0, kFailed = 1, kCore = 1, kDomains = 2, kMemory = 3;
  if (table == nullptr || __msl_hook_enter == nullptr)
    return kFailed;
  fillCore(tableOf(table, kCore));
  fillDomains(tableOf(table, kDomains));
  fillMemory(tableOf(table, kMemory));
  return kDone;
}
