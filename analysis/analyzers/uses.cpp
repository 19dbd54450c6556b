// Uses: blocks that are allocated long before their first use, freed long after their last use, or never used. The
// floor is the peak without such blocks (docs/analyses.md).
#include "analysis/analyzers/idle_blocks.h"
#include "analysis/analyzers/registry.h"
#include "analysis/findings/advice.h"
#include "analysis/live/launch_sets.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/live/use.h"

#include <algorithm>
#include <array>
#include <map>

namespace msleaks::analysis::inline analyzers {
namespace {

// The uses of a live block. `others` is the number of blocks that were allocated on its device until then.
struct BlockUses {
  struct Moment {
    uint64_t time_ns = 0, others = 0;
    SiteId site;
    LabelId kernel{}; // of a launch, if its name is known
  };
  Moment birth, first, last;
  bool counts = false; // its whole life was seen
};

class UsesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "uses"; }
  bool wants(abi::Heap heap) const override { return hasUses(heap); }
  uint32_t eventKinds() const override { return LaunchedKernels::kEvents; }
  void useCohorts(const Cohorts &, SiteCatalog &catalog) override { labels_ = &catalog.labels(); }
  void onEvent(const StreamEvent &event, SiteId) override {
    if (labels_)
      kernels_.onEvent(event, *labels_);
    if (event.event.header().kind == abi::EventKind::Launch)
      launches_.onLaunch(event.process, event.stream);
  }
  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    if (block.bytes() == 0)
      return;
    const uint64_t others = ++allocations_[block.device];
    const bool counts = cause == AllocCause::Allocated || cause == AllocCause::Reallocated;
    elementAt(uses_, block.id.index) = {{time_ns, others, block.site, {}}, {}, {}, counts};
  }
  void onUse(const Block &block, const Use &use) override {
    launches_.onUse(block, use);
    BlockUses &uses = elementAt(uses_, block.id.index);
    const BlockUses::Moment now{use.time_ns, allocations_[block.device], use.site,
                                use.is_launch ? kernels_.lastOf(use.process, use.stream) : LabelId{}};
    if (uses.first.time_ns == 0)
      uses.first = now;
    uses.last = now;
  }
  void onFree(const Block &block, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  void add(const Idle &, const Block &, const BlockUses::Moment &use, uint64_t idle_ns);

  std::vector<BlockUses> uses_;                    // by number of the block
  std::array<uint64_t, 256> allocations_{};        // by device
  std::map<LifePart, std::vector<Idleness>> idle_; // by cohort
  LaunchSets launches_;
  LaunchedKernels kernels_;
  const Labels *labels_ = nullptr;
};

void UsesAnalyzer::add(const Idle &idle, const Block &block, const BlockUses::Moment &use, uint64_t idle_ns) {
  elementAt(idle_[idle.part], block.cohort.index) +=
      Idleness{block.size, 1, idle_ns, use.site, byteNsOf(block.size, idle_ns), use.kernel};
}

// A block is idle only if another block could have used its memory: one was allocated on the device in the meantime.
void UsesAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  const BlockUses uses = std::exchange(elementAt(uses_, block.id.index), {});
  if (!uses.counts)
    return;
  if (uses.first.time_ns == 0)
    return add(kUnused, block, {}, time_ns - uses.birth.time_ns);
  if (uses.first.others > uses.birth.others)
    add(kEarly, block, uses.first, uses.first.time_ns - uses.birth.time_ns);
  if (!isEnd(cause) && allocations_[block.device] > uses.last.others)
    add(kLate, block, uses.last, time_ns - uses.last.time_ns);
}

std::optional<Floor> floorOf(Conclusion &conclusion) {
  Absence idle{
      CohortSet(conclusion.cohorts.size()), {LifePart::NotUsed, LifePart::Late, LifePart::Kept, LifePart::Unused}, {}};
  Floor floor;
  std::map<Account, bool> seen;
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index) {
    const Cohort &cohort = conclusion.cohorts[{index}];
    const Account account{cohort.heap, cohort.device};
    const auto [at, fresh] = seen.try_emplace(account);
    if (fresh)
      at->second = conclusion.seesUses(account);
    idle.cohorts[index] = at->second;
    if (at->second && std::find(floor.heaps.begin(), floor.heaps.end(), account.heap) == floor.heaps.end())
      floor.heaps.push_back(account.heap);
  }
  if (floor.heaps.empty())
    return std::nullopt;
  const Savings::Curve all = conclusion.physicalCurve(), absent = conclusion.curveOf(idle);
  for (size_t i = 0; i < all.size(); ++i)
    floor.bytes = std::max(floor.bytes, static_cast<uint64_t>(std::max<int64_t>(all[i] - absent[i], 0)));
  return floor;
}

void UsesAnalyzer::conclude(Conclusion &conclusion) const {
  conclusion.result.floor = floorOf(conclusion);
  if (auto &floor = conclusion.result.floor) {
    floor->largest_launch_bytes = launches_.largest().bytes;
    floor->largest_launch = lineOf(launches_.largest().site, conclusion);
  }
  const std::vector<Idleness> none;
  if (conclusion.question.policy != Policy::Effect)
    return;
  for (const Idle &idle : {kEarly, kLate, kUnused})
    for (const IdleBlocks &blocks : blocksOf(idle_.contains(idle.part) ? idle_.at(idle.part) : none, conclusion)) {
      Absence absence = absenceOf(idle, blocks, conclusion);
      if (conclusion.isWorthSaving(blocks.keeper.account, absence))
        conclusion.add(findingOf(idle, blocks, conclusion), std::move(absence));
    }
}

} // namespace

MSL_REGISTER_ANALYZER(uses, UsesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
