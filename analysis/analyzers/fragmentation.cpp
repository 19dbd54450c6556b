// Fragmentation: segments that stay alive although only a small part of them is in use (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/scores.h"
#include "analysis/analyzers/segment_cells.h"
#include "analysis/analyzers/segment_maps.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/live/part_map.h"
#include "analysis/live/peaks.h"
#include "analysis/live/segments.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace msleaks::analysis::inline analyzers {
namespace {

// A segment is low if at most a quarter of it is in use. A saving of less than a few pages, or of a small part of the
// peak, does not matter.
constexpr uint64_t kLowOneIn = 4, kLeastSavedBytes = 64 << 10, kLeastSavingOneIn = 20;
constexpr size_t kMostSegmentRows = 1000;

// A time in which a segment was low, after more of it had been in use.
struct Low {
  uint64_t since_ns = 0, until_ns = UINT64_MAX;
  uint64_t most_bytes = 0; // the most that was in use
};

struct SegmentUse {
  PartMap parts;
  uint64_t first_part_ns = 0;
  bool was_full = false; // more than a quarter was in use at some time
  std::optional<Low> low, low_at_peak;
};
using PoolSegment = Segments<SegmentUse>::Segment;

// A segment's state at the peak of its account.
struct AtPeakOfAccount {
  CohortId cohort;
  uint64_t bytes = 0, used_bytes = 0, largest_hole_bytes = 0;
  std::vector<CohortShare> parts;
  std::optional<Low> low;
  uint64_t address = 0;
  std::vector<CellRun> cells;
};

// The segments of an account that were freed after its latest peak.
struct SegmentsOfPeak {
  std::vector<AtPeakOfAccount> segments;
  uint64_t number = 0; // number of the peak
};

bool isIn(uint64_t time_ns, const Low &low) { return low.since_ns <= time_ns && time_ns < low.until_ns; }

AtPeakOfAccount atPeakOf(const PoolSegment &segment, const PeakClock &peak) {
  const PartMap::Parts parts = segment.content.parts.atPeak(peak.number());
  AtPeakOfAccount then;
  then.cohort = segment.block.cohort;
  then.bytes = segment.block.bytes();
  then.address = segment.block.address;
  then.cells = cellsOf(parts, then.address, then.bytes);
  std::map<CohortId, BlockSum> by_cohort;
  for (const auto &[address, part] : parts) {
    by_cohort[part.cohort] += {part.bytes, 1};
    then.used_bytes += part.bytes;
  }
  then.used_bytes = std::min(then.used_bytes, then.bytes);
  then.largest_hole_bytes = largestHole(parts, segment.block.address, then.bytes);
  for (const auto &[cohort, part] : by_cohort)
    then.parts.push_back({cohort, part.bytes, part.count});
  if (const auto &low = segment.content.low_at_peak; low && isIn(peak.timeNs(), *low))
    then.low = low;
  return then;
}

class FragmentationAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "fragmentation"; }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onPart(const Block &part, const Block &whole, uint64_t time_ns) override {
    PoolSegment &segment = segments_.add(part, whole);
    if (segment.content.first_part_ns == 0)
      segment.content.first_part_ns = time_ns;
    segment.content.parts.add(part.address, {part.size, part.cohort}, peakOf(whole).number());
    look(segment, time_ns);
  }
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &block, const Block &, uint64_t) override {
    if (PoolSegment *of = block.heap == abi::Heap::Pool ? segments_.of(block) : nullptr)
      of->content.parts.retarget(block.address, block.cohort);
    else if (PoolSegment *segment = segments_.find(block))
      segment->block.cohort = block.cohort;
  }
  void conclude(Conclusion &) const override;

private:
  const PeakClock &peakOf(const Block &block) const { return peaks_->of(Account{block.heap, block.device}).clock(); }
  void look(PoolSegment &, uint64_t time_ns);
  void endLow(PoolSegment &, uint64_t time_ns);
  template <class F> void forEachSegment(F &&) const;

  const Peaks *peaks_ = nullptr;
  std::map<Account, SegmentsOfPeak> gone_;
  Segments<SegmentUse> segments_;
};

void FragmentationAnalyzer::endLow(PoolSegment &segment, uint64_t time_ns) {
  SegmentUse &use = segment.content;
  if (!use.low)
    return;
  use.low->until_ns = time_ns;
  if (isIn(peakOf(segment.block).timeNs(), *use.low))
    use.low_at_peak = use.low;
  use.low.reset();
}

// Called after each change of the bytes in use.
void FragmentationAnalyzer::look(PoolSegment &segment, uint64_t time_ns) {
  SegmentUse &use = segment.content;
  const uint64_t used = use.parts.usedBytes();
  if (used * kLowOneIn > segment.block.bytes()) {
    endLow(segment, time_ns);
    use.was_full = true;
  } else if (!use.low && use.was_full) {
    use.low = Low{.since_ns = time_ns, .most_bytes = used};
  } else if (use.low) {
    use.low->most_bytes = std::max(use.low->most_bytes, used);
  }
}

void FragmentationAnalyzer::onFree(const Block &block, FreeCause, uint64_t time_ns) {
  if (block.heap == abi::Heap::Pool) {
    if (PoolSegment *segment = segments_.takePart(block)) {
      segment->content.parts.remove(block.address, peakOf(segment->block).number());
      look(*segment, time_ns);
    }
    return;
  }
  if (block.reserve)
    return;
  PoolSegment *segment = segments_.find(block);
  if (!segment)
    return;
  endLow(*segment, time_ns);
  const PeakClock &peak = peakOf(block);
  SegmentsOfPeak &gone = gone_[{block.heap, block.device}];
  if (gone.number != peak.number())
    gone = {{}, peak.number()};
  if (segment->content.first_part_ns <= peak.timeNs())
    gone.segments.push_back(atPeakOf(*segment, peak));
  segments_.erase(block);
}

// Called at the end: all processes have ended, so all segments are in gone_.
template <class F> void FragmentationAnalyzer::forEachSegment(F &&f) const {
  for (const auto &[account, gone] : gone_)
    if (gone.number == peaks_->of(account).clock().number())
      for (const AtPeakOfAccount &segment : gone.segments)
        f(account, segment);
}

// The place with the most bytes of these parts; null if there are no parts.
std::shared_ptr<const SiteText> largestPlaceOf(const std::vector<CohortShare> &parts, Conclusion &conclusion) {
  const std::vector<PlaceGroup> groups = conclusion.lines.byPlace(bySite(parts, conclusion.cohorts));
  const auto largest = std::max_element(groups.begin(), groups.end(), [](const PlaceGroup &a, const PlaceGroup &b) {
    return a.sum().bytes < b.sum().bytes;
  });
  return largest == groups.end() ? nullptr
                                 : std::make_shared<const SiteText>(textOf(conclusion.catalog, largest->place));
}

// The segments of one keeper that are low at the peak.
struct Pinned {
  Place place;
  uint64_t peak_bytes = 0;
  std::vector<CohortShare> segments, parts;
  Absence free; // their free bytes, while they are low
  uint64_t free_bytes = 0, segment_bytes = 0, largest_hole_bytes = 0;
};

void addSegment(Pinned &pinned, const AtPeakOfAccount &segment) {
  const uint64_t free = segment.bytes - std::min(segment.low->most_bytes, segment.bytes);
  pinned.segments.push_back({segment.cohort, free, 1});
  pinned.parts.insert(pinned.parts.end(), segment.parts.begin(), segment.parts.end());
  pinned.free.blocks.push_back(
      {segment.cohort, static_cast<int64_t>(free), segment.low->since_ns, segment.low->until_ns});
  pinned.free_bytes += free;
  pinned.segment_bytes += segment.bytes;
  pinned.largest_hole_bytes = std::max(pinned.largest_hole_bytes, segment.largest_hole_bytes);
}

Draft<Finding> findingOf(const Keeper &keeper, const Pinned &pinned, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kFragmentation, keeper, pinned.place, pinned.segments, conclusion);
  Finding &finding = draft.line;
  finding.confidence = Confidence::Hint;
  uint64_t used = 0, parts = 0;
  for (const CohortShare &part : pinned.parts) {
    used += part.bytes;
    parts += part.count;
  }
  finding.evidence = {{"segment_bytes", pinned.segment_bytes},
                      {"used_at_peak_bytes", used},
                      {"parts_at_peak", parts},
                      {"largest_hole_bytes", pinned.largest_hole_bytes}};
  const auto pin = largestPlaceOf(pinned.parts, conclusion);
  if (pin)
    finding.evidence.emplace_back("pinned_by", lineOf(*pin));
  finding.advice =
      parts == 0 || !pin
          ? fmt::format("The pool uses none of the memory that {} allocated: let the pool free these segments.",
                        functionIn(finding.site))
          : fmt::format("{} part{} of {} ({}) keep{} the segments alive: give such parts a segment of "
                        "their own.",
                        parts, parts == 1 ? "" : "s", functionIn(*pin), lineOf(*pin), parts == 1 ? "s" : "");
  return draft;
}

using SegmentList = std::vector<std::pair<Account, const AtPeakOfAccount *>>;

Section segmentsOf(SegmentList segments, Conclusion &conclusion) {
  const auto freeOf = [](const auto &segment) { return segment.second->bytes - segment.second->used_bytes; };
  std::stable_sort(segments.begin(), segments.end(),
                   [&](const auto &a, const auto &b) { return freeOf(a) > freeOf(b); });
  segments.resize(std::min(segments.size(), kMostSegmentRows));
  Section section{.name = "segments",
                  .title = "Segments of pools at the peak of their heap",
                  .columns = {{"place", Unit::Place, Fold::Key},
                              {"bytes", Unit::Bytes},
                              {"used", Unit::Bytes},
                              {"free", Unit::Bytes},
                              {"largest_hole", Unit::Bytes, Fold::Largest},
                              {"pinned_by", Unit::Place, Fold::First}},
                  .rows = {}};
  for (const auto &[account, segment] : segments) {
    const Place place = conclusion.lines.places().of(conclusion.cohorts[segment->cohort].site);
    const auto pin = largestPlaceOf(segment->parts, conclusion);
    section.rows.push_back({std::make_shared<const SiteText>(textOf(conclusion.catalog, place)), segment->bytes,
                            segment->used_bytes, segment->bytes - segment->used_bytes, segment->largest_hole_bytes,
                            pin ? Cell(pin) : Cell()});
  }
  return section;
}

// The score of all segments of a heap and device together: one pool hands out their parts.
Section scoresOf(const SegmentList &segments) {
  struct Sum {
    uint64_t bytes = 0, free = 0, largest_hole = 0;
  };
  std::map<Account, Sum> by_account;
  for (const auto &[account, segment] : segments) {
    Sum &sum = by_account[account];
    sum.bytes += segment->bytes;
    sum.free += segment->bytes - segment->used_bytes;
    sum.largest_hole = std::max(sum.largest_hole, segment->largest_hole_bytes);
  }
  Section section{.name = "fragmentation_scores",
                  .title = "Fragmentation of pools at the peak of their heap",
                  .columns = {{"heap", Unit::Text, Fold::Key},
                              {"device", Unit::Text, Fold::Key},
                              {"bytes", Unit::Bytes},
                              {"free", Unit::Bytes},
                              {"largest_hole", Unit::Bytes, Fold::Largest},
                              {"score", Unit::Count, Fold::Largest}},
                  .rows = {}};
  for (const auto &[account, sum] : by_account)
    section.rows.push_back({std::string(abi::nameOf(account.heap)), fmt::format("{}", account.device), sum.bytes,
                            sum.free, sum.largest_hole, fragmentationScore(sum.free, sum.largest_hole)});
  return section;
}

// Adds the largest segments to the pictures of the run.
void draw(const SegmentList &segments, Conclusion &conclusion) {
  SegmentMapsBuilder maps(conclusion);
  for (const auto &[account, segment] : segments)
    maps.add({account, segment->cohort, segment->address, segment->bytes, segment->used_bytes, &segment->cells});
  maps.finish();
}

void FragmentationAnalyzer::conclude(Conclusion &conclusion) const {
  std::map<Keeper, Pinned> by_keeper;
  SegmentList segments;
  forEachSegment([&](const Account &account, const AtPeakOfAccount &segment) {
    segments.emplace_back(account, &segment);
    const SiteId site = conclusion.cohorts[segment.cohort].site;
    const Place place = conclusion.lines.places().of(site);
    if (!segment.low || !place.own)
      return;
    Pinned &pinned = by_keeper[keeperOf(site, place, account, conclusion.catalog)];
    pinned.place = place;
    pinned.peak_bytes = peaks_->of(account).clock().bytes();
    addSegment(pinned, segment);
  });
  if (!segments.empty()) {
    conclusion.result.sections.push_back(scoresOf(segments));
    conclusion.result.sections.push_back(segmentsOf(segments, conclusion));
  }
  if (conclusion.question.wants_pictures)
    draw(segments, conclusion);
  for (auto &[keeper, pinned] : by_keeper) {
    if (conclusion.saves(keeper.account, pinned.free) >=
        std::max(kLeastSavedBytes, pinned.peak_bytes / kLeastSavingOneIn))
      conclusion.add(findingOf(keeper, pinned, conclusion), pinned.free);
  }
}

} // namespace

MSL_REGISTER_ANALYZER(fragmentation, FragmentationAnalyzer)

} // namespace msleaks::analysis::inline analyzers
