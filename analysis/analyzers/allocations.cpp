// Allocations: how much each place allocated, how much of it only for a moment, and in which sizes. Also finds places
// where allocating takes noticeable time (churn).
#include "analysis/analyzers/registry.h"
#include "analysis/analyzers/scores.h"
#include "analysis/findings/churn.h"
#include "analysis/live/allocation_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline analyzers {
namespace {

// A program like PyTorch allocates on half a million paths. Naming all of them would take most of a report's time.
constexpr size_t kMostNamedSites = 4000, kMostPaths = 20'000;

// A place is in the list of scores if its score is higher, and it leaves this part of all bytes that are left.
constexpr double kLeakyScore = 0.95;
constexpr uint64_t kLeakyOneIn = 100;

using BySite = std::vector<std::pair<SiteId, AllocationCount>>;

class AllocationAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "allocations"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Free); }
  void onEvent(const StreamEvent &event, SiteId) override {
    if ((event.event.header().flags & abi::kRealloc) != 0)
      counts_.onReallocFree(event.process, event.stream);
  }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    if (isEnd(cause))
      elementAt(left_, block.cohort.index) += {block.size, 1};
    counts_.onFree(block, cause);
  }
  void onRetarget(const Block &block, const Block &before, uint64_t) override { counts_.onRetarget(block, before); }
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override { counts_.onProcessEnd(process, fate.time_ns); }
  void conclude(Conclusion &) const override;

private:
  BySite bySites(const Cohorts &) const;
  Section byPlace(Conclusion &) const;
  Section bySize() const;
  Section leakScores(Conclusion &) const;
  std::vector<SiteLine> byPath(Conclusion &) const;

  AllocationCounts counts_;
  std::array<BlockSum, 65> by_size_{}; // by the number of bits of the size
  std::vector<BlockSum> left_;         // by cohort: blocks that were alive at the end of their process
};

void AllocationAnalyzer::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  counts_.onAlloc(block, cause, time_ns);
  if (!block.reserve && (cause == AllocCause::Allocated || cause == AllocCause::Reallocated))
    by_size_[static_cast<size_t>(std::bit_width(block.size))] += {block.size, 1};
}

// The site with the most bytes comes first.
BySite AllocationAnalyzer::bySites(const Cohorts &cohorts) const {
  std::unordered_map<SiteId, AllocationCount> sums;
  const std::vector<AllocationCount> &by_cohort = counts_.byCohort();
  for (uint32_t index = 1; index < std::min(by_cohort.size(), cohorts.size()); ++index)
    if (by_cohort[index].count != 0)
      sums[cohorts[{index}].site] += by_cohort[index];
  BySite list(sums.begin(), sums.end());
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  return list;
}

// Lists the sites with the most bytes or blocks, grouped by place. All other sites are one row.
Section AllocationAnalyzer::byPlace(Conclusion &conclusion) const {
  BySite sites = bySites(conclusion.cohorts);
  AllocationCount others;
  if (sites.size() > 2 * kMostNamedSites) {
    const auto rest = sites.begin() + kMostNamedSites, most = rest + kMostNamedSites;
    std::nth_element(rest, most, sites.end(),
                     [](const auto &a, const auto &b) { return a.second.count > b.second.count; });
    for (auto site = most; site != sites.end(); ++site)
      others += site->second;
    sites.erase(most, sites.end());
  }
  std::vector<SiteShare> shares;
  std::unordered_map<SiteId, AllocationCount> of_site(sites.begin(), sites.end());
  for (const auto &[site, sum] : sites)
    shares.push_back({site, sum.bytes, sum.count});
  Section section{
      "allocations",
      "Allocated in all",
      {{"place", Unit::Place, Fold::Key}, {"bytes", Unit::Bytes}, {"count", Unit::Count}, {"temporary", Unit::Count}},
      {}};
  struct Row {
    std::shared_ptr<const SiteText> place;
    AllocationCount sum;
  };
  std::vector<Row> rows;
  for (const PlaceGroup &group : conclusion.lines.byPlace(shares)) {
    Row &row = rows.emplace_back(Row{std::make_shared<SiteText>(textOf(conclusion.catalog, group.place)), {}});
    for (const SiteShare &share : group.shares)
      row.sum += of_site[share.site];
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.sum.bytes > b.sum.bytes; });
  if (others.count != 0)
    rows.push_back({nullptr, others});
  for (const auto &[place, sum] : rows)
    section.rows.push_back({place ? Cell(place) : Cell(), sum.bytes, sum.count, sum.temporary});
  return section;
}

Section AllocationAnalyzer::bySize() const {
  Section section{"sizes",
                  "Allocated by size",
                  {{"up_to_bytes", Unit::Bytes, Fold::Key}, {"bytes", Unit::Bytes}, {"count", Unit::Count}},
                  {}};
  for (size_t bits = 0; bits < by_size_.size(); ++bits)
    if (const BlockSum &sum = by_size_[bits]; sum.count != 0)
      section.rows.push_back({bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1, sum.bytes, sum.count});
  return section;
}

// Lists the places that leave many bytes, and free hardly any of their blocks.
Section AllocationAnalyzer::leakScores(Conclusion &conclusion) const {
  Section section{"leak_scores",
                  "Places that hardly free their blocks",
                  {{"place", Unit::Place, Fold::Key},
                   {"left_bytes", Unit::Bytes},
                   {"allocated", Unit::Count},
                   {"freed", Unit::Count},
                   {"score", Unit::Count, Fold::Largest}},
                  {}};
  const std::vector<AllocationCount> &counts = counts_.byCohort();
  std::vector<SiteShare> shares;
  std::unordered_map<SiteId, std::pair<uint64_t, uint64_t>> of_site; // allocated and freed blocks
  uint64_t left_bytes = 0;
  for (uint32_t index = 1; index < std::min(counts.size(), conclusion.cohorts.size()); ++index) {
    const Cohort &cohort = conclusion.cohorts[{index}];
    const BlockSum left = index < left_.size() ? left_[index] : BlockSum{};
    if (counts[index].count == 0 || !abi::isPhysical(cohort.heap))
      continue;
    auto &[allocated, freed] = of_site[cohort.site];
    allocated += counts[index].count;
    freed += counts[index].count - std::min(counts[index].count, left.count + counts[index].alive);
    left_bytes += left.bytes;
    if (left.count != 0)
      shares.push_back({cohort.site, left.bytes, left.count});
  }
  for (const PlaceGroup &group : conclusion.lines.byPlace(shares)) {
    uint64_t allocated = 0, freed = 0;
    for (const SiteShare &share : group.shares) {
      const auto [all, gone] = std::exchange(of_site[share.site], {}); // a site may have several shares
      allocated += all;
      freed += gone;
    }
    const double score = leakScore(allocated, freed);
    if (const uint64_t bytes = group.sum().bytes; score > kLeakyScore && bytes * kLeakyOneIn >= left_bytes)
      section.rows.push_back(
          {std::make_shared<SiteText>(textOf(conclusion.catalog, group.place)), bytes, allocated, freed, score});
  }
  return section;
}

// The paths with the fewest bytes have no names, and share one line.
std::vector<SiteLine> AllocationAnalyzer::byPath(Conclusion &conclusion) const {
  const std::vector<AllocationCount> &counts = counts_.byCohort();
  std::vector<CohortShare> shares;
  for (uint32_t index = 1; index < std::min(counts.size(), conclusion.cohorts.size()); ++index)
    if (counts[index].count != 0 && abi::isPhysical(conclusion.cohorts[{index}].heap))
      shares.push_back({{index}, counts[index].bytes, counts[index].count});
  std::vector<SiteShare> of_sites = result::bySite(shares, conclusion.cohorts);
  if (of_sites.size() > kMostPaths) {
    const auto rest = of_sites.begin() + kMostPaths;
    std::ranges::nth_element(of_sites, rest, std::greater(), &SiteShare::bytes);
    SiteShare others;
    for (auto share = rest; share != of_sites.end(); ++share) {
      others.bytes += share->bytes;
      others.count += share->count;
    }
    of_sites.erase(rest, of_sites.end());
    of_sites.push_back(others);
  }
  return conclusion.lines.bySite(of_sites, Lines::Paths::Shown);
}

void AllocationAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.wants_allocated)
    conclusion.result.allocated = byPath(conclusion);
  for (Section section : {byPlace(conclusion), bySize(), leakScores(conclusion)})
    if (!section.rows.empty())
      conclusion.result.sections.push_back(std::move(section));
  concludeChurn(counts_, conclusion);
}

} // namespace

MSL_REGISTER_ANALYZER(allocations, AllocationAnalyzer)

} // namespace msleaks::analysis::inline analyzers
