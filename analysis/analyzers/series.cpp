// Series: the memory in use over time by account, owner and type, and in each step (docs/formats.md). The curves come
// from the history of the memory. Only the steps are counted here.
#include "analysis/result/series.h"
#include "analysis/analyzers/registry.h"
#include "analysis/base/session_time.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/history_curves.h"
#include "analysis/live/step_rows.h"
#include "analysis/places/place.h"
#include "analysis/result/grouping.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

// Some curves, with their descriptions and their cohorts.
struct CurveGroups {
  std::vector<Series::Curve> curves;
  HistoryCurves::Groups group_of;
  std::vector<HistoryCurves::Highest> highest; // by curve
};

// The name, heap and device of a curve.
using CurveKey = std::tuple<std::optional<std::string>, std::optional<std::string>, std::optional<uint8_t>>;

class SeriesBuilder {
public:
  explicit SeriesBuilder(Conclusion &conclusion) : conclusion_(conclusion), history_(conclusion.history()) {}

  Series build();

private:
  template <class KeyOf> CurveGroups groupsBy(const char *by, KeyOf keyOf) const;
  CurveGroups largestOf(CurveGroups all) const;
  CurveGroups total() const;
  CurveGroups accounts() const;
  CurveGroups named(const char *by, Dimension) const;
  CurveGroups places() const;

  static bool isPhysical(const Cohort &cohort) { return abi::isPhysical(cohort.heap); }

  Conclusion &conclusion_;
  HistoryCurves history_;
};

// keyOf(cohort) returns the curve of a cohort, or none.
template <class KeyOf> CurveGroups SeriesBuilder::groupsBy(const char *by, KeyOf keyOf) const {
  const Cohorts &cohorts = conclusion_.cohorts;
  CurveGroups groups;
  groups.group_of.assign(cohorts.size(), HistoryCurves::kNone);
  std::map<CurveKey, uint32_t> numbers;
  for (uint32_t index = 1; index < cohorts.size(); ++index) {
    if (!history_.changes({index}))
      continue;
    const std::optional<CurveKey> key = keyOf(cohorts[{index}]);
    if (!key)
      continue;
    const auto [at, is_new] = numbers.try_emplace(*key, static_cast<uint32_t>(numbers.size()));
    if (is_new) {
      Series::Curve &curve = groups.curves.emplace_back();
      curve.by = by;
      std::tie(curve.name, curve.heap, curve.device) = *key;
    }
    groups.group_of[index] = at->second;
  }
  groups.highest = history_.highestOf(groups.group_of, groups.curves.size());
  return groups;
}

// Returns the curves with the largest peaks, and then sums of all other curves: for accounts, one sum for each heap.
CurveGroups SeriesBuilder::largestOf(CurveGroups all) const {
  std::vector<uint32_t> order(all.curves.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto orderOf = [&](uint32_t group) {
      const Series::Curve &curve = all.curves[group];
      return std::tuple(-all.highest[group].bytes, std::tie(curve.name, curve.heap, curve.device));
    };
    return orderOf(a) < orderOf(b);
  });
  CurveGroups kept;
  std::vector<uint32_t> renamed(all.curves.size());
  std::map<std::optional<std::string>, uint32_t> others; // by heap
  for (const uint32_t group : order) {
    Series::Curve &curve = all.curves[group];
    uint32_t number = static_cast<uint32_t>(kept.curves.size());
    if (number < Series::kMostCurves) {
      kept.curves.push_back(std::move(curve));
    } else if (const auto [at, is_new] = others.try_emplace(curve.heap, number); is_new) {
      curve.name = "others";
      curve.others = true;
      curve.device.reset();
      kept.curves.push_back(std::move(curve));
    } else {
      number = at->second;
    }
    renamed[group] = number;
  }
  for (const uint32_t group : all.group_of)
    kept.group_of.push_back(group == HistoryCurves::kNone ? group : renamed[group]);
  kept.highest = history_.highestOf(kept.group_of, kept.curves.size());
  return kept;
}

CurveGroups SeriesBuilder::total() const {
  return groupsBy("total", [](const Cohort &cohort) {
    return isPhysical(cohort) ? std::optional<CurveKey>(std::in_place) : std::nullopt;
  });
}

CurveGroups SeriesBuilder::accounts() const {
  return largestOf(groupsBy("account", [](const Cohort &cohort) {
    return std::optional(CurveKey(std::nullopt, std::string(abi::nameOf(cohort.heap)), cohort.device));
  }));
}

// Leaves out parts of pools, because their segments count already.
CurveGroups SeriesBuilder::named(const char *by, Dimension dimension) const {
  GroupNames names(conclusion_.lines, conclusion_.names);
  return largestOf(groupsBy(by, [&](const Cohort &cohort) -> std::optional<CurveKey> {
    if (!isPhysical(cohort))
      return std::nullopt;
    std::string name = names.of(dimension, cohort);
    return CurveKey(name.empty() ? std::nullopt : std::optional(std::move(name)), std::nullopt, std::nullopt);
  }));
}

// The name of a place is its line, and its function if this is known.
CurveGroups SeriesBuilder::places() const {
  std::map<Place::Key, std::string> names;
  return largestOf(groupsBy("place", [&](const Cohort &cohort) -> std::optional<CurveKey> {
    if (!isPhysical(cohort))
      return std::nullopt;
    const Place place = conclusion_.lines.places().of(cohort.site);
    const auto [at, is_new] = names.try_emplace(place.keyIn(conclusion_.catalog));
    if (is_new) {
      const SiteText text = textOf(conclusion_.catalog, place);
      at->second = lineOf(text) + (text.function.empty() ? "" : " in " + text.function);
    }
    return CurveKey(at->second, std::nullopt, std::nullopt);
  }));
}

Series SeriesBuilder::build() {
  std::vector<CurveGroups> all;
  all.push_back(total());
  all.push_back(accounts());
  all.push_back(named("owner", Dimension::Owner));
  all.push_back(named("type", Dimension::Type));
  if (conclusion_.question.wants_pictures)
    all.push_back(places());
  std::vector<size_t> peaks;
  for (const CurveGroups &groups : all)
    for (const HistoryCurves::Highest &highest : groups.highest)
      peaks.push_back(highest.at);
  const CurveGroups &sum = all.front();
  std::vector<size_t> each(history_.times().size());
  std::iota(each.begin(), each.end(), 0);
  const auto totals = history_.curvesOf(sum.group_of, 1, each);
  const std::vector<size_t> moments = chooseMoments(totals.front(), peaks, Series::kMostMoments);
  Series series;
  series.error_bytes = conclusion_.history().error();
  for (const size_t at : moments)
    series.moments.push_back(history_.times()[at] - std::min(conclusion_.start_ns, history_.times()[at]));
  for (CurveGroups &groups : all) {
    auto curves = history_.curvesOf(groups.group_of, groups.curves.size(), moments);
    for (size_t i = 0; i < groups.curves.size(); ++i) {
      groups.curves[i].peak_bytes = static_cast<uint64_t>(groups.highest[i].bytes);
      groups.curves[i].bytes = std::move(curves[i]);
      series.curves.push_back(std::move(groups.curves[i]));
    }
  }
  return series;
}

class SeriesAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "series"; }
  bool wants(abi::Heap heap) const override { return abi::isPhysical(heap); }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Step) | abi::enabledBit(abi::EventKind::Launch);
  }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }

  void onEvent(const StreamEvent &event, SiteId) override {
    const abi::EventHeader &header = event.event.header();
    if (header.kind == abi::EventKind::Step)
      steps_.begin(event.process, event.event.as<abi::StepEvent>().number, header.time, bytesOf(event.process));
    else if (steps_.has(event.process))
      steps_.launch(header.time);
  }
  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override {
    if (steps_.has(block.process))
      steps_.rise(block.bytes(), time_ns);
  }
  // Blocks that are alive at the end of a process count until that time.
  void onFree(const Block &block, FreeCause cause, uint64_t time_ns) override {
    if (!steps_.has(block.process))
      return;
    if (isEnd(cause))
      steps_.end(block.process, time_ns);
    else
      steps_.fall(block.bytes(), time_ns);
  }
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override { steps_.end(process, fate.time_ns); }
  void conclude(Conclusion &) const override;

private:
  uint64_t bytesOf(uint32_t process) const {
    const auto found = peaks_->processes().find(process);
    return found == peaks_->processes().end() ? 0 : found->second.nowBytes();
  }

  const Peaks *peaks_ = nullptr;
  StepRows steps_{Series::kMostSteps};
};

void SeriesAnalyzer::conclude(Conclusion &conclusion) const {
  if (!conclusion.question.wants_series)
    return;
  Series series = SeriesBuilder(conclusion).build();
  const StepRows::Rows rows = steps_.rows();
  for (const StepRows::Row &row : rows.list) {
    const auto process = std::find_if(conclusion.processes.begin(), conclusion.processes.end(),
                                      [&](const ReportProcess &known) { return known.process == row.process; });
    series.steps.push_back({row.process, process == conclusion.processes.end() ? 0 : process->pid, row.first, row.last,
                            row.steps, sinceStart(row.begin_ns, conclusion.start_ns),
                            sinceStart(row.end_ns, conclusion.start_ns), row.peak_bytes, row.end_bytes, row.launches});
  }
  series.steps_left_out = rows.left_out_steps;
  conclusion.result.series = std::make_shared<const Series>(std::move(series));
}

} // namespace

MSL_REGISTER_ANALYZER(series, SeriesAnalyzer)

} // namespace msleaks::analysis::inline analyzers
