// Device memory that is not needed at the peak, although it is used before and after. A block may be idle between two
// uses. Or it may fit into another block that is no longer used (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/live/use.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>

namespace msleaks::analysis::inline analyzers {
namespace {

// A gap between two uses must be long: for a few steps, a copy to the host and back is not worth it.
constexpr uint64_t kLeastLaunches = 100;
constexpr size_t kMostMatched = 4096; // only the largest blocks

// The time between two uses of a block.
struct Gap {
  uint64_t begin_ns = 0, end_ns = 0, launches = 0;
  SiteId before, behind;
};

// The life of a block.
struct Life {
  CohortId cohort;
  uint64_t bytes = 0;
  uint64_t birth_ns = 0, end_ns = 0;
  uint64_t first_ns = 0, last_ns = 0; // uses; 0 = none
  uint64_t last_launch = 0;           // launches of its process before its last use
  SiteId last_use;
  std::optional<Gap> gap; // the gap that contains the peak
  bool counts = false;    // its whole life was seen
};

// The blocks of an account that were alive at its latest peak, and were freed after it.
struct LivesAtPeak {
  std::vector<Life> gone;
  uint64_t number = 0, time_ns = 0; // of the peak
};

class UsesAtPeakAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "uses_at_peak"; }
  bool wants(abi::Heap heap) const override { return hasUses(heap); }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Launch); }
  void onEvent(const StreamEvent &event, SiteId) override { ++launches_[event.process]; }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onUse(const Block &, const Use &) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  const PeakClock &peakOf(const Block &block) const { return peaks_->of(Account{block.heap, block.device}).clock(); }

  const Peaks *peaks_ = nullptr;
  std::map<Account, LivesAtPeak> accounts_;
  std::vector<Life> lives_; // by number of the block
  std::unordered_map<uint32_t, uint64_t> launches_;
};

void UsesAtPeakAnalyzer::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  if (block.bytes() == 0)
    return;
  Life life;
  life.birth_ns = time_ns;
  life.counts = cause == AllocCause::Allocated || cause == AllocCause::Reallocated;
  elementAt(lives_, block.id.index) = life;
}

void UsesAtPeakAnalyzer::onUse(const Block &block, const Use &use) {
  Life &life = elementAt(lives_, block.id.index);
  const uint64_t launches = launches_[block.process], peak_ns = peakOf(block).timeNs();
  if (life.first_ns == 0)
    life.first_ns = use.time_ns;
  else if (life.last_ns <= peak_ns && peak_ns < use.time_ns)
    life.gap = {life.last_ns, use.time_ns, launches - std::min(launches, life.last_launch + 1), life.last_use,
                use.site};
  life.last_ns = use.time_ns;
  life.last_launch = launches;
  life.last_use = use.site;
}

void UsesAtPeakAnalyzer::onFree(const Block &block, FreeCause, uint64_t time_ns) {
  if (block.bytes() == 0)
    return;
  Life life = std::exchange(elementAt(lives_, block.id.index), {});
  const PeakClock &peak = peakOf(block);
  if (life.birth_ns > peak.timeNs())
    return;
  LivesAtPeak &lives = accounts_[{block.heap, block.device}];
  if (lives.number != peak.number())
    lives = {{}, peak.number(), peak.timeNs()};
  life.cohort = block.cohort;
  life.bytes = block.size;
  life.end_ns = time_ns;
  lives.gone.push_back(life);
}

// The blocks of one keeper that the peak does not need, and the times.
struct Spare {
  Place place;
  std::vector<CohortShare> cohorts;
  Absence absence;
  Life largest, fits_into; // fits_into: the block whose memory `largest` could use

  void add(const Life &life) {
    cohorts.push_back({life.cohort, life.bytes, 1});
    if (life.bytes >= largest.bytes)
      largest = life;
  }
};
using Spares = std::map<Keeper, Spare>;

// The entry of the block's keeper, or null if the block cannot become a finding.
Spare *spareOf(Spares &spares, const Life &life, Conclusion &conclusion) {
  const auto kept = ownKeeperOf(conclusion.cohorts[life.cohort], conclusion);
  if (!kept)
    return nullptr;
  Spare &spare = spares[kept->keeper];
  spare.place = kept->place;
  return &spare;
}

Spares idleOf(const LivesAtPeak &lives, Conclusion &conclusion) {
  Spares spares;
  for (const Life &life : lives.gone) {
    const bool is_idle = life.gap && life.gap->launches >= kLeastLaunches && life.gap->begin_ns <= lives.time_ns &&
                         lives.time_ns < life.gap->end_ns;
    Spare *spare = is_idle ? spareOf(spares, life, conclusion) : nullptr;
    if (!spare)
      continue;
    spare->add(life);
    spare->absence.blocks.push_back(
        {life.cohort, static_cast<int64_t>(life.bytes), life.gap->begin_ns, life.gap->end_ns});
  }
  return spares;
}

// The largest block comes first.
std::vector<Life> usedBlocksOf(const LivesAtPeak &at_peak) {
  std::vector<Life> lives;
  std::copy_if(at_peak.gone.begin(), at_peak.gone.end(), std::back_inserter(lives),
               [](const Life &life) { return life.counts && life.first_ns != 0; });
  std::stable_sort(lives.begin(), lives.end(), [](const Life &a, const Life &b) { return a.bytes > b.bytes; });
  if (lives.size() > kMostMatched)
    lives.resize(kMostMatched);
  return lives;
}

// Pairs each block, the largest first, with the smallest block that it fits into, and whose last use is before its
// first use. Each block is in at most one pair.
Spares redundantOf(const LivesAtPeak &at_peak, Conclusion &conclusion) {
  Spares spares;
  const std::vector<Life> lives = usedBlocksOf(at_peak);
  std::vector<bool> taken(lives.size());
  for (size_t block = 0; block < lives.size(); ++block) {
    const Life &life = lives[block];
    for (size_t other = lives.size(); other-- > 0 && !taken[block];) {
      const Life &dead = lives[other];
      if (other == block || taken[other] || dead.bytes < life.bytes || dead.last_ns >= life.first_ns)
        continue;
      Spare *spare = spareOf(spares, life, conclusion);
      if (!spare)
        break;
      taken[block] = taken[other] = true;
      spare->add(life);
      if (spare->largest.birth_ns == life.birth_ns)
        spare->fits_into = dead;
      spare->absence.blocks.push_back({life.cohort, static_cast<int64_t>(life.bytes), life.birth_ns, life.end_ns});
      if (dead.end_ns < life.end_ns) // the memory must then live longer
        spare->absence.blocks.push_back({dead.cohort, -static_cast<int64_t>(dead.bytes), dead.end_ns, life.end_ns});
    }
  }
  return spares;
}

void describeIdle(Finding &finding, const Spare &spare, Conclusion &conclusion) {
  const Gap &gap = *spare.largest.gap;
  finding.evidence = {{"idle_ns", gap.end_ns - gap.begin_ns}, {"idle_launches", gap.launches}};
  addLine(finding.evidence, "last_use", gap.before, conclusion);
  addLine(finding.evidence, "next_use", gap.behind, conclusion);
  const std::string before = lineOf(gap.before, conclusion), behind = lineOf(gap.behind, conclusion);
  finding.advice =
      fmt::format("Free {} after its use{} and fill {} again before the next one{}, or move {} to the host in between.",
                  thingOf(finding), before.empty() ? "" : " at " + before, pronounOf(finding),
                  behind.empty() ? "" : " at " + behind, pronounOf(finding));
}

void describeRedundant(Finding &finding, const Spare &spare, Conclusion &conclusion) {
  const Place place = conclusion.lines.places().of(conclusion.cohorts[spare.fits_into.cohort].site);
  SiteText site = textOf(conclusion.catalog, place);
  site.file = baseName(site.file);
  const std::string other = lineOf(site);
  finding.evidence = {{"fits_into", other}, {"fits_into_bytes", spare.fits_into.bytes}};
  addLine(finding.evidence, "last_use_of_that", spare.fits_into.last_use, conclusion);
  finding.advice =
      fmt::format("Nothing uses the block of {} any more: let {} use that memory.", other, thingOf(finding));
}

void addFindings(const FindingKind &kind, Spares spares, void (*describe)(Finding &, const Spare &, Conclusion &),
                 Conclusion &conclusion) {
  for (auto &[keeper, spare] : spares) {
    if (!conclusion.isWorthSaving(keeper.account, spare.absence))
      continue;
    auto draft = draftOf(kind, keeper, spare.place, spare.cohorts, conclusion);
    draft.line.confidence = Confidence::Hint;
    describe(draft.line, spare, conclusion);
    conclusion.add(std::move(draft), std::move(spare.absence));
  }
}

void UsesAtPeakAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect)
    return;
  for (const auto &[account, lives] : accounts_) {
    if (lives.number != peaks_->of(account).clock().number() || !conclusion.seesUses(account))
      continue;
    addFindings(finding_kinds::kIdle, idleOf(lives, conclusion), describeIdle, conclusion);
    addFindings(finding_kinds::kRedundant, redundantOf(lives, conclusion), describeRedundant, conclusion);
  }
}

} // namespace

MSL_REGISTER_ANALYZER(uses_at_peak, UsesAtPeakAnalyzer)

} // namespace msleaks::analysis::inline analyzers
