#include "analysis/analyzers/peak.h"

#include "analysis/analyzers/callers_apart.h"
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/result/finding_kinds.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace msleaks::analysis::inline analyzers {

void PeakAnalyzer::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  if (block.reserve)
    return;
  // Subtracts what onFree added for the first part of its life: the block continues with its old time of birth.
  if (cause == AllocCause::Restored || cause == AllocCause::Remainder)
    elementAt(byte_ns_, block.cohort.index) -= byteNs(block, time_ns);
}

ByteNs PeakAnalyzer::byteNs(const Block &block, uint64_t until_ns) {
  return byteNsOf(block.size, until_ns > block.time_ns ? until_ns - block.time_ns : 0);
}

void PeakAnalyzer::onFree(const Block &block, FreeCause, uint64_t time_ns) {
  if (!block.reserve)
    elementAt(byte_ns_, block.cohort.index) += byteNs(block, time_ns);
}

void PeakAnalyzer::onPart(const Block &, const Block &whole, uint64_t) {
  elementAt(has_segments_, whole.cohort.index) = 1;
}

namespace {

// A place stands out if it has this part of its heap's peak, and if the peak would be this much lower without it. It
// must be in own code, and not allocate for a closed library. Less than a few pages does not matter.
constexpr uint64_t kLeastBytesToShow = 64 << 10;
constexpr uint64_t kLeastShareOfPeak = 10, kLeastSavingOfPeak = 20; // one part in 10, one part in 20

// The place with the most bytes comes first. A place with several groups of callers is there once for each group.
std::vector<PathGroup> largestOwn(std::vector<CohortShare> shares, uint64_t peak_bytes, Conclusion &conclusion) {
  std::erase_if(shares, [&](const CohortShare &share) {
    const Cohort &cohort = conclusion.cohorts[share.cohort];
    return !closedLibraryOf(cohort.site, conclusion.catalog).empty();
  });
  std::vector<PlaceGroup> own = conclusion.lines.byPlace(bySite(shares, conclusion.cohorts));
  const uint64_t least_bytes = std::max(kLeastBytesToShow, peak_bytes / kLeastShareOfPeak);
  std::erase_if(own, [&](const PlaceGroup &group) { return !group.place.own || group.sum().bytes < least_bytes; });
  std::vector<PathGroup> ways;
  for (const PlaceGroup &group : own)
    for (PathGroup &way : callersApart(group, conclusion.catalog))
      if (way.group.sum().bytes >= least_bytes)
        ways.push_back(std::move(way));
  std::stable_sort(ways.begin(), ways.end(),
                   [](const auto &a, const auto &b) { return a.group.sum().bytes > b.group.sum().bytes; });
  return ways;
}

// All blocks of the place in this account, also from paths without blocks at the peak; or only those of these callers.
Absence absenceOf(const PathGroup &way, const Account &account, Conclusion &conclusion) {
  const PlaceGroup &group = way.group;
  SiteCatalog &catalog = conclusion.catalog;
  const Place::Key key = group.place.keyIn(catalog);
  std::set<SiteId> sites, innermost;
  for (const SiteShare &share : group.shares) {
    sites.insert(share.site);
    innermost.insert(innermostPlace(catalog, share.site).call);
  }
  const auto isThere = [&](SiteId site) {
    return sites.contains(site) || (way.callers.empty() && innermost.contains(innermostPlace(catalog, site).call) &&
                                    conclusion.lines.places().of(site).keyIn(catalog) == key);
  };
  Absence absence;
  absence.cohorts.resize(conclusion.cohorts.size());
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index) {
    const Cohort &cohort = conclusion.cohorts[{index}];
    absence.cohorts[index] = cohort.heap == account.heap && cohort.device == account.device && isThere(cohort.site);
  }
  return absence;
}

} // namespace

static std::string adviceOf(const Finding &finding) {
  const std::string function = functionIn(finding.site);
  if (finding.count == 1)
    return fmt::format("{} asks for {} at once: ask for less, or free {} before the peak.", function,
                       bytesText(finding.bytes), thingOf(finding));
  return fmt::format("{} has {} blocks at the same time: free each after its last use, or make them smaller.", function,
                     countText(finding.count));
}

// If uses are seen, findings about uses replace these findings (uses.cpp). The place of a segment tells only which part
// did not fit into the other segments, so the findings are about the parts.
void PeakAnalyzer::findStandingOut(const PeakTracker &of, const Account &account, Conclusion &conclusion) const {
  if (conclusion.seesUses(account))
    return;
  const PeakClock &peak = of.clock();
  std::vector<CohortShare> at_peak = of.shares();
  std::erase_if(at_peak, [&](const CohortShare &share) { return valueAt(has_segments_, share.cohort.index) != 0; });
  for (const PathGroup &way : largestOwn(at_peak, peak.bytes(), conclusion)) {
    Absence absence = absenceOf(way, account, conclusion);
    if (conclusion.saves(account, absence) < std::max(kLeastBytesToShow, peak.bytes() / kLeastSavingOfPeak))
      continue;
    auto draft = conclusion.lines.lineOf<Finding>(way.group, Lines::Paths::Shown);
    Finding &finding = draft.line;
    setKind(finding, finding_kinds::kPeak);
    finding.callers = way.callers;
    finding.confidence = Confidence::Hint;
    finding.heap = account.heap;
    finding.device = account.device;
    std::vector<CohortShare> shares = at_peak;
    std::erase_if(shares, [&](const CohortShare &share) { return !absence.cohorts[share.cohort.index]; });
    conclusion.nameOwner(finding, shares);
    ByteNs byte_ns = 0;
    for (uint32_t index = 1; index < absence.cohorts.size(); ++index)
      byte_ns += absence.cohorts[index] ? valueAt(byte_ns_, index) : 0;
    finding.byte_seconds = byteSecondsOf(byte_ns);
    finding.evidence = {{"peak_bytes", peak.bytes()}, {"peak_time_ns", peak.timeNs()}};
    finding.advice = adviceOf(finding);
    conclusion.add(std::move(draft), std::move(absence));
  }
}

// The row with the most bytes comes first, whatever its process.
Section PeakAnalyzer::placesByProcess(const std::vector<CohortShare> &at_peak, Conclusion &conclusion) {
  Section section{.name = "process_places",
                  .title = "At the peak, by process and place",
                  .columns = {{"process", Unit::Text, Fold::Key},
                              {"place", Unit::Place, Fold::Key},
                              {"bytes", Unit::Bytes},
                              {"count", Unit::Count}},
                  .rows = {},
                  .compares = true};
  std::map<uint32_t, std::vector<CohortShare>> shares; // by process
  for (const CohortShare &share : at_peak)
    shares[conclusion.cohorts[share.cohort].process].push_back(share);
  for (const auto &[process, of] : shares)
    for (const PlaceGroup &group : conclusion.lines.byPlace(bySite(of, conclusion.cohorts))) {
      const BlockSum sum = group.sum();
      section.rows.push_back({conclusion.names.process(process),
                              std::make_shared<const SiteText>(textOf(conclusion.catalog, group.place)), sum.bytes,
                              sum.count});
    }
  std::stable_sort(section.rows.begin(), section.rows.end(),
                   [](const auto &a, const auto &b) { return std::get<uint64_t>(a[2]) > std::get<uint64_t>(b[2]); });
  return section;
}

static std::vector<DevicePeak> byDevice(const Peaks &peaks, abi::Heap heap) {
  std::vector<DevicePeak> list;
  if (abi::spaceOf(heap) == abi::AddressSpace::Accelerator)
    peaks.forEachAccount([&](const Account &account, const PeakTracker &of) {
      if (account.heap == heap)
        list.push_back({account.device, of.clock().bytes(), of.clock().timeNs()});
    });
  return list;
}

static std::vector<ProcessPeak> byProcess(const Peaks &peaks) {
  std::vector<ProcessPeak> list;
  for (const auto &[process, clock] : peaks.processes())
    if (clock.bytes() != 0)
      list.push_back({process, clock.bytes(), clock.timeNs()});
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.process < b.process; });
  return list;
}

void PeakAnalyzer::conclude(Conclusion &conclusion) const {
  const Peaks &peaks = *peaks_;
  const PeakClock &total = peaks.physical().clock();
  const std::vector<CohortShare> at_peak = peaks.physical().shares();
  Lines &lines = conclusion.lines;
  PeakReport &report = conclusion.result.peak;
  report.bytes = total.bytes();
  report.time_ns = total.timeNs();
  const std::vector<SiteShare> shares = bySite(at_peak, conclusion.cohorts);
  report.by_site = lines.bySite(shares, Lines::Paths::Shown);
  report.by_type = lines.byType(shares);
  report.by_owner = lines.byOwner(shares);
  for (size_t heap = 0; heap < static_cast<size_t>(abi::Heap::Count); ++heap)
    if (const PeakTracker &of = peaks.of(static_cast<abi::Heap>(heap)); of.clock().bytes() != 0)
      report.by_heap.push_back({static_cast<abi::Heap>(heap), of.clock().bytes(), of.clock().timeNs(),
                                lines.bySite(bySite(of.shares(), conclusion.cohorts), Lines::Paths::LeftOut),
                                byDevice(peaks, static_cast<abi::Heap>(heap))});
  report.by_process = byProcess(peaks);
  if (total.bytes() != 0)
    conclusion.result.sections.push_back(placesByProcess(at_peak, conclusion));
  conclusion.addGroups("peak", "At the peak", at_peak);
  peaks.forEachAccount(
      [&](const Account &account, const PeakTracker &of) { findStandingOut(of, account, conclusion); });
}

MSL_REGISTER_ANALYZER(peak, PeakAnalyzer)

} // namespace msleaks::analysis::inline analyzers
