#include "analysis/compare/verdict.h"

#include "analysis/base/text.h"
#include "analysis/compare/same_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostPeakChanges = 10;

GateResult judged(bool passed) { return passed ? GateResult::Passed : GateResult::Failed; }

std::string_view programOf(const RunFigures &figures) {
  return figures.command.empty() ? std::string_view() : baseName(figures.command.front());
}

Result<void> checkSameProgram(const RunFigures &now, const RunFigures &baseline) {
  const std::string_view ours = programOf(now), theirs = programOf(baseline);
  if (ours == theirs || ours.empty() || theirs.empty())
    return {};
  return fail(fmt::format("the baseline is of another program: '{}', and this run is of '{}'; name a baseline of the "
                          "same program",
                          theirs, ours));
}

std::string ruleOf(const PeakLimit &limit) {
  if (const auto *percent = std::get_if<MorePercent>(&limit))
    return fmt::format("+{}%", percent->percent);
  return std::holds_alternative<MoreBytes>(limit) ? "more" : "at most";
}

LimitGate gateOf(const char *name, uint64_t now, std::optional<uint64_t> baseline, std::optional<uint64_t> most) {
  LimitGate gate{name, true, baseline, now, most, "", GateResult::NotJudged};
  if (most)
    gate.judgement = judged(now <= *most);
  return gate;
}

LimitGate peakGate(const RunFigures &now, const std::optional<RunFigures> &baseline, const Limits &limits) {
  std::optional<uint64_t> most;
  if (limits.peak)
    most = mostBytes(*limits.peak, baseline ? baseline->peak.bytes : 0);
  LimitGate gate = gateOf("peak", now.peak.bytes, baseline ? std::optional(baseline->peak.bytes) : std::nullopt, most);
  if (limits.peak)
    gate.rule = ruleOf(*limits.peak);
  return gate;
}

// Pools hand out parts of blocks of other heaps. So leaks of pools are counted separately, and have the same limit.
void addLeakGates(Verdict &verdict, const RunFigures &now, const std::optional<RunFigures> &baseline,
                  const Limits &limits) {
  const auto before = [&](uint64_t LeakFigures::*bytes) {
    return baseline ? std::optional(baseline->leaks.*bytes) : std::nullopt;
  };
  verdict.gates.push_back(gateOf("leaks", now.leaks.bytes, before(&LeakFigures::bytes), limits.leak_bytes));
  if (now.leaks.pool_count != 0 || (baseline && baseline->leaks.pool_count != 0))
    verdict.gates.push_back(
        gateOf("pool-leaks", now.leaks.pool_bytes, before(&LeakFigures::pool_bytes), limits.leak_bytes));
}

void sortByBytes(std::vector<PlaceFigures> &places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const PlaceFigures &a, const PlaceFigures &b) { return a.bytes > b.bytes; });
}

void compareLeaks(Verdict &verdict, const RunFigures &now, const RunFigures &baseline, const Relocation &relocation) {
  const auto &theirs = baseline.leaks.places, &ours = now.leaks.places;
  const SamePlaces same = samePlaces(theirs, ours, relocation);
  for (const size_t index : same.fresh)
    verdict.new_places.push_back(ours[index]);
  for (const size_t index : same.gone)
    verdict.gone_places.push_back(theirs[index]);
  for (const auto &[before, after] : same.pairs)
    if (ours[after].bytes > theirs[before].bytes)
      verdict.grown_leaks.push_back({ours[after], theirs[before].bytes, ours[after].bytes});
  sortByBytes(verdict.new_places);
  sortByBytes(verdict.gone_places);
}

uint64_t sizeOf(const PlaceChange &change) {
  return std::max(change.before_bytes, change.now_bytes) - std::min(change.before_bytes, change.now_bytes);
}

void keepLargest(std::vector<PlaceChange> &changes, size_t most) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const PlaceChange &a, const PlaceChange &b) { return sizeOf(a) > sizeOf(b); });
  if (changes.size() > most)
    changes.resize(most);
}

void comparePeaks(Verdict &verdict, const RunFigures &now, const RunFigures &baseline, const Relocation &relocation) {
  const auto &theirs = baseline.peak.places, &ours = now.peak.places;
  const SamePlaces same = samePlaces(theirs, ours, relocation);
  for (const auto &[before, after] : same.pairs)
    if (ours[after].bytes != theirs[before].bytes)
      verdict.peak_changes.push_back({ours[after], theirs[before].bytes, ours[after].bytes});
  for (const size_t index : same.fresh)
    verdict.peak_changes.push_back({ours[index], 0, ours[index].bytes});
  for (const size_t index : same.gone)
    verdict.peak_changes.push_back({theirs[index], theirs[index].bytes, 0});
  keepLargest(verdict.peak_changes, kMostPeakChanges);
}

std::string exitText(const std::optional<int> &exit) { return exit ? fmt::format("{}", *exit) : "not known"; }

void addNotes(Verdict &verdict, const RunFigures &now, const RunFigures &baseline) {
  if (now.exit != baseline.exit)
    verdict.notes.push_back(
        fmt::format("exit status {}, in the baseline {}", exitText(now.exit), exitText(baseline.exit)));
  if (programOf(now).empty() || programOf(baseline).empty())
    verdict.notes.emplace_back("it is not known whether the baseline is of the same program: a manifest is missing");
  const auto arguments = [](const RunFigures &figures) {
    return std::vector(figures.command.begin() + !figures.command.empty(), figures.command.end());
  };
  if (arguments(now) != arguments(baseline))
    verdict.notes.push_back(fmt::format("in the baseline the command was `{}`", fmt::join(baseline.command, " ")));
}

void compare(Verdict &verdict, const RunFigures &now, const RunFigures &baseline) {
  const Relocation relocation({baseline.peak.places, baseline.leaks.places}, {now.peak.places, now.leaks.places});
  compareLeaks(verdict, now, baseline, relocation);
  comparePeaks(verdict, now, baseline, relocation);
  keepLargest(verdict.grown_leaks, SIZE_MAX);
  verdict.baseline_gaps = baseline.gaps;
  addNotes(verdict, now, baseline);
}

} // namespace

const char *nameOf(GateResult judgement) {
  switch (judgement) {
  case GateResult::NotJudged:
    return "not judged";
  case GateResult::Passed:
    return "passed";
  case GateResult::Failed:
    return "failed";
  }
  return "";
}

bool Verdict::passed() const {
  return recording != GateResult::Failed && std::none_of(gates.begin(), gates.end(), [](const LimitGate &gate) {
           return gate.judgement == GateResult::Failed;
         });
}

Result<Verdict> judge(const RunFigures &now, const std::optional<RunFigures> &baseline, const Limits &limits) {
  MSL_TRY(checkBaseline(limits, baseline.has_value()));
  if (baseline)
    MSL_TRY(checkSameProgram(now, *baseline));
  Verdict verdict;
  verdict.command = now.command;
  verdict.has_baseline = baseline.has_value();
  verdict.gaps = now.gaps;
  verdict.leaking_places = now.leaks.places;
  sortByBytes(verdict.leaking_places);
  if (baseline)
    compare(verdict, now, *baseline);
  if (!verdict.gaps.empty() || !verdict.baseline_gaps.empty())
    verdict.recording = limits.incomplete_allowed ? GateResult::NotJudged : GateResult::Failed;
  verdict.gates.push_back(peakGate(now, baseline, limits));
  addLeakGates(verdict, now, baseline, limits);
  LimitGate places{"places", false, {}, now.leaks.places.size(), {}, "", GateResult::NotJudged};
  if (baseline)
    places.baseline = baseline->leaks.places.size();
  if (limits.new_places) {
    places.rule = "none new";
    places.judgement = judged(verdict.new_places.empty());
  }
  verdict.gates.push_back(std::move(places));
  return verdict;
}

} // namespace msleaks::analysis::inline compare
