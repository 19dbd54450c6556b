#include "analysis/watch/frame_metrics.h"

#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline watch {
namespace {

constexpr size_t kMostLabelColumns = 200;
constexpr char kOthers[] = "other";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"')
      out += '\\';
    out += c == '\n' ? std::string_view("\\n") : std::string_view(&c, 1);
  }
  return out;
}

using SampleLabels = std::vector<std::pair<std::string_view, std::string>>;

enum class SampleKind { Gauge, Counter };

// The families of a text, one after the other. All samples of a family must be together.
class MetricsText {
public:
  // `unit`: the ending of the name, or empty.
  void family(std::string_view name, SampleKind kind, std::string_view unit, std::string_view help) {
    name_ = name;
    kind_ = kind;
    fmt::format_to(std::back_inserter(text_), "# TYPE {} {}\n", name, kind == SampleKind::Gauge ? "gauge" : "counter");
    if (!unit.empty())
      fmt::format_to(std::back_inserter(text_), "# UNIT {} {}\n", name, unit);
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n", name, help);
  }
  template <class Number> void sample(const SampleLabels &labels, Number value) {
    text_ += name_;
    if (kind_ == SampleKind::Counter)
      text_ += "_total";
    for (size_t i = 0; i < labels.size(); ++i)
      fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first,
                     escaped(labels[i].second));
    fmt::format_to(std::back_inserter(text_), "{} {}\n", labels.empty() ? "" : "}", value);
  }
  std::string take() {
    text_ += "# EOF\n";
    return std::move(text_);
  }

private:
  std::string_view name_;
  SampleKind kind_ = SampleKind::Gauge;
  std::string text_;
};

using SumsByPlace = std::map<std::pair<std::string, std::string>, BlockSum>; // by place and function

SumsByPlace placesOf(const Frame &frame, size_t most) {
  SumsByPlace places;
  for (const FrameRow &row : frame.rows) { // most bytes first
    if (!abi::isPhysical(row.heap))
      continue;
    std::pair<std::string, std::string> key{kOthers, ""};
    if (row.site)
      key = {placeOf(*row.site, kMostLabelColumns), shortFunction(row.site->function, kMostLabelColumns)};
    if (!places.contains(key) && places.size() >= most)
      key = {kOthers, ""};
    places[key] += row.now;
  }
  return places;
}

void addTotals(MetricsText &metrics, const Frame &frame) {
  metrics.family("msleaks_running", SampleKind::Gauge, "", "Whether the session is being recorded.");
  metrics.sample({}, frame.state == WatchState::Running ? 1 : 0);
  metrics.family("msleaks_events", SampleKind::Counter, "", "Events that were recorded.");
  metrics.sample({}, frame.events);
  metrics.family("msleaks_steps", SampleKind::Counter, "", "Steps that have begun.");
  metrics.sample({}, frame.steps);
  metrics.family("msleaks_live_bytes", SampleKind::Gauge, "bytes", "Memory of the blocks that are alive, by heap.");
  for (const FrameHeap &heap : frame.heaps)
    metrics.sample({{"heap", abi::nameOf(heap.heap)}}, heap.now.bytes);
  metrics.family("msleaks_live_blocks", SampleKind::Gauge, "", "Blocks that are alive, by heap.");
  for (const FrameHeap &heap : frame.heaps)
    metrics.sample({{"heap", abi::nameOf(heap.heap)}}, heap.now.count);
  metrics.family("msleaks_peak_bytes", SampleKind::Gauge, "bytes",
                 "Peak of the physical heaps of all processes together.");
  metrics.sample({}, frame.peak_bytes);
}

void addProcesses(MetricsText &metrics, const Frame &frame) {
  metrics.family("msleaks_process_live_bytes", SampleKind::Gauge, "bytes", "Memory that is alive, by process.");
  BlockSum others;
  for (size_t i = 0; i < frame.processes.size(); ++i) {
    const FrameProcess &process = frame.processes[i];
    if (i >= kMostProcesses)
      others += process.now;
    else
      metrics.sample({{"pid", fmt::format("{}", process.pid)}, {"command", process.command}}, process.now.bytes);
  }
  if (frame.processes.size() > kMostProcesses)
    metrics.sample({{"pid", kOthers}, {"command", ""}}, others.bytes);
}

void addPlaces(MetricsText &metrics, const SumsByPlace &places) {
  const auto add = [&](uint64_t BlockSum::*value) {
    for (const auto &[names, sum] : places)
      metrics.sample({{"place", names.first}, {"function", names.second}}, sum.*value);
  };
  metrics.family("msleaks_place_live_bytes", SampleKind::Gauge, "bytes",
                 "Memory that is alive, by the place of allocation.");
  add(&BlockSum::bytes);
  metrics.family("msleaks_place_live_blocks", SampleKind::Gauge, "",
                 "Blocks that are alive, by the place of allocation.");
  add(&BlockSum::count);
}

} // namespace

std::string metricsOf(const Frame &frame, size_t places) {
  MetricsText metrics;
  addTotals(metrics, frame);
  addProcesses(metrics, frame);
  addPlaces(metrics, placesOf(frame, places));
  return metrics.take();
}

} // namespace msleaks::analysis::inline watch
