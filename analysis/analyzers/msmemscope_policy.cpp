// Idle device memory by the rules of msMemScope (msleaks report --policy msmemscope, docs/analyses.md). They depend
// only on the order of calls, however little memory it is.
//
// Each launch, copy, fill, allocation and free of a process is a call with a number. A block is
//   early  if something was freed between its allocation and its first use,
//   late   if something was allocated between its last use and its free, and
//   idle   if there are more than 3,000 calls between two uses.
#include "analysis/analyzers/idle_blocks.h"
#include "analysis/analyzers/registry.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kIdleCalls = 3000;

// The calls of a process.
struct Calls {
  uint64_t last = 0, last_alloc = 0, last_free = 0;
};

// The numbers of calls for a live block; 0 = none.
struct BlockCalls {
  uint64_t alloc = 0, last_use = 0;
  uint64_t alloc_ns = 0, last_use_ns = 0;
  SiteId last_site;
  bool is_idle = false; // marked as idle
};

class MsMemScopePolicy final : public Analyzer {
public:
  std::string_view name() const override { return "msmemscope_policy"; }
  bool wants(abi::Heap heap) const override { return hasUses(heap); }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Launch) | abi::enabledBit(abi::EventKind::Copy) |
           abi::enabledBit(abi::EventKind::Set);
  }
  // The uses of a launch come after its event. The uses of a copy or fill come just before its event.
  void onEvent(const StreamEvent &event, SiteId) override {
    const abi::EventHeader &header = event.event.header();
    if (header.kind != abi::EventKind::Copy || header.heap != abi::Heap::Host) // not a copy of the program's own memory
      ++calls_[event.process].last;
  }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onUse(const Block &, const Use &) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  void mark(const Idle &, const Block &, SiteId use, uint64_t idle_ns);

  std::unordered_map<uint32_t, Calls> calls_;
  std::vector<BlockCalls> blocks_; // by number of the block
  std::map<LifePart, std::vector<Idleness>> idle_;
};

void MsMemScopePolicy::mark(const Idle &idle, const Block &block, SiteId use, uint64_t idle_ns) {
  elementAt(idle_[idle.part], block.cohort.index) +=
      Idleness{block.size, 1, idle_ns, use, byteNsOf(block.size, idle_ns)};
}

void MsMemScopePolicy::onAlloc(const Block &block, AllocCause, uint64_t time_ns) {
  Calls &calls = calls_[block.process];
  calls.last_alloc = ++calls.last;
  BlockCalls fresh;
  fresh.alloc = calls.last;
  fresh.alloc_ns = time_ns;
  elementAt(blocks_, block.id.index) = fresh;
}

void MsMemScopePolicy::onUse(const Block &block, const Use &use) {
  const Calls &calls = calls_[block.process];
  const uint64_t now = calls.last + (use.is_launch ? 0 : 1); // a copy or fill is not counted yet
  BlockCalls &last = elementAt(blocks_, block.id.index);
  if (last.last_use == 0 && last.alloc < calls.last_free && calls.last_free < now)
    mark(kEarly, block, use.site, use.time_ns - last.alloc_ns);
  if (last.last_use != 0 && now - last.last_use > kIdleCalls && !std::exchange(last.is_idle, true))
    mark(kBetweenUses, block, last.last_site, use.time_ns - last.last_use_ns);
  last.last_use = now;
  last.last_use_ns = use.time_ns;
  last.last_site = use.site;
}

void MsMemScopePolicy::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (isEnd(cause))
    return;
  Calls &calls = calls_[block.process];
  calls.last_free = ++calls.last;
  const BlockCalls &last = elementAt(blocks_, block.id.index);
  if (last.last_use != 0 && last.last_use < calls.last_alloc)
    mark(kLate, block, last.last_site, time_ns - last.last_use_ns);
}

void MsMemScopePolicy::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::MsMemScope)
    return;
  for (const Idle &idle : {kEarly, kLate, kBetweenUses})
    if (const auto found = idle_.find(idle.part); found != idle_.end())
      for (const IdleBlocks &blocks : blocksOf(found->second, conclusion))
        conclusion.add(findingOf(idle, blocks, conclusion),
                       idle.part == LifePart::InUse ? Absence{} : absenceOf(idle, blocks, conclusion));
}

} // namespace

MSL_REGISTER_ANALYZER(msmemscope_policy, MsMemScopePolicy)

} // namespace msleaks::analysis::inline analyzers
