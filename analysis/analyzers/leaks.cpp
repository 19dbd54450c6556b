#include "analysis/analyzers/leaks.h"

#include "analysis/analyzers/registry.h"
#include "analysis/findings/harmless.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <map>
#include <set>

namespace msleaks::analysis {
namespace {

template <class ByCohort> std::vector<CohortRemains> sorted(const ByCohort &by_cohort) {
  std::vector<CohortRemains> list;
  for (const auto &[cohort, sum] : by_cohort)
    list.push_back(sum);
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.cohort < b.cohort; });
  return list;
}

Remains remainsOf(const Block &block, uint64_t age_ns) {
  const uint64_t bytes = block.bytes();
  return {block.heap, bytes, 1, bytes, age_ns, age_ns, byteNsOf(bytes, age_ns)};
}

struct Leak {
  Place place; // of the most bytes
  Keeper keeper;
  Remains remains;
  std::vector<CohortShare> cohorts;
  uint64_t most_bytes = 0; // of a cohort
};

using SitesAndHeaps = std::set<std::pair<SiteId, abi::Heap>>;

SitesAndHeaps sitesAndHeapsOf(const std::vector<SiteRemains> &list) {
  SitesAndHeaps set;
  for (const SiteRemains &remains : list)
    set.emplace(remains.site, remains.heap);
  return set;
}

// Those of physical heaps that are not harmless: what the leaks of a report add up to.
std::vector<CohortShare> sharesOf(const std::vector<CohortRemains> &leaked,
                                  const std::vector<SiteRemains> &not_harmless, const Cohorts &cohorts) {
  const SitesAndHeaps counts = sitesAndHeapsOf(not_harmless);
  std::vector<CohortShare> shares;
  for (const CohortRemains &remains : leaked)
    if (abi::isPhysical(remains.heap) && counts.contains({cohorts[remains.cohort].site, remains.heap}))
      shares.push_back({remains.cohort, remains.bytes, remains.count});
  return shares;
}

// Those of the user's own places, one for each place or closed library that it calls.
std::vector<Leak> leaksOf(const std::vector<CohortRemains> &leaked, const std::vector<SiteRemains> &not_harmless,
                          Conclusion &conclusion) {
  const SitesAndHeaps counts = sitesAndHeapsOf(not_harmless);
  std::map<Keeper, Leak> leaks;
  for (const CohortRemains &remains : leaked) {
    const Cohort &cohort = conclusion.cohorts[remains.cohort];
    const Place place = conclusion.lines.places().of(cohort.site);
    if (!place.own || !counts.contains({cohort.site, cohort.heap}))
      continue;
    const Keeper keeper = keeperOf(cohort.site, place, {cohort.heap, cohort.device}, conclusion.catalog);
    Leak &leak = leaks[keeper];
    leak.keeper = keeper;
    if (remains.bytes >= leak.most_bytes)
      leak.place = place;
    leak.most_bytes = std::max(leak.most_bytes, remains.bytes);
    leak.remains += remains;
    leak.cohorts.push_back({remains.cohort, remains.bytes, remains.count});
  }
  std::vector<Leak> list;
  for (auto &[keeper, leak] : leaks)
    list.push_back(std::move(leak));
  return list;
}

Draft<Finding> findingOf(const Leak &leak, Conclusion &conclusion) {
  auto draft = draftOf("leak", leak.keeper, leak.place, leak.cohorts, conclusion);
  Finding &finding = draft.line;
  finding.byte_seconds = byteSecondsOf(leak.remains.byte_ns);
  finding.evidence = {{"largest_bytes", leak.remains.largest_bytes},
                      {"oldest_age_ns", leak.remains.oldest_age_ns},
                      {"newest_age_ns", leak.remains.newest_age_ns}};
  finding.advice = !leak.keeper.closed_library.empty()
                       ? "The library keeps these for itself: look whether it is told when nobody needs it any more."
                   : finding.count == 1 ? "Free this block before its last user forgets it."
                                        : "Free each of these blocks before its last user forgets it.";
  return draft;
}

} // namespace

BlockSum physicalSum(const std::vector<CohortRemains> &list) {
  BlockSum sum;
  for (const CohortRemains &remains : list)
    if (abi::isPhysical(remains.heap))
      sum += {remains.bytes, remains.count};
  return sum;
}

void LeakAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (!isEnd(cause) || cause == FreeCause::ProcessExec || block.reserve)
    return;
  const uint64_t age_ns = time_ns > block.time_ns ? time_ns - block.time_ns : 0;
  ByCohort &remains = cause != FreeCause::ProcessExited         ? alive_
                      : pauses_.mayHaveBeenFreed(block.time_ns) ? unsure_
                                                                : leaked_;
  const auto [at, fresh] = remains.try_emplace(block.cohort.index, CohortRemains{{block.heap}, block.cohort});
  at->second += remainsOf(block, age_ns);
  if (&remains == &leaked_)
    births_.push_back({block.time_ns, block.cohort, static_cast<int64_t>(block.bytes())});
}

void LeakAnalyzer::onEvent(const StreamEvent &event, SiteId) { pauses_.apply(event.event.as<abi::EpochEvent>()); }

void LeakAnalyzer::conclude(Conclusion &conclusion) const {
  const LeakResult found = result();
  AnalysisResult &result = conclusion.result;
  Lines &lines = conclusion.lines;
  const SortedRemains sorted = withoutHarmless(conclusion.catalog, bySite(found.leaked, conclusion.cohorts),
                                               conclusion.processes.size(), conclusion.question.suppressions);
  lines.addRemains(sorted.leaks, nullptr, result.leaks);
  for (const auto &[reason, list] : sorted.harmless)
    lines.addRemains(list, reason.c_str(), result.suppressed);
  lines.addRemains(bySite(found.alive, conclusion.cohorts), nullptr, result.alive);
  lines.addRemains(bySite(found.unsure, conclusion.cohorts), nullptr, result.unsure);

  conclusion.addGroups("leaks", "Leaked", sharesOf(found.leaked, sorted.leaks, conclusion.cohorts));

  std::unordered_map<uint32_t, std::vector<Added>> births; // by cohort
  for (const Added &birth : births_)
    births[birth.cohort.index].push_back(birth);
  std::vector<Leak> leaks = leaksOf(found.leaked, sorted.leaks, conclusion);
  Conclusion::keepLargest(leaks, [](const Leak &leak) { return leak.remains.bytes; });
  for (const Leak &leak : leaks) {
    Absence absence;
    for (const CohortShare &share : leak.cohorts) {
      const std::vector<Added> &of = births[share.cohort.index];
      absence.blocks.insert(absence.blocks.end(), of.begin(), of.end());
    }
    conclusion.add(findingOf(leak, conclusion), std::move(absence));
  }
}

LeakResult LeakAnalyzer::result() const { return {sorted(leaked_), sorted(alive_), sorted(unsure_)}; }

MSL_REGISTER_ANALYZER(leaks, LeakAnalyzer)

} // namespace msleaks::analysis
