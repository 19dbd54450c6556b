#include "analysis/report/window_begin.h"

#include "analysis/live/live_set.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace msleaks::analysis::inline report {
namespace {

std::optional<uint64_t> timeIn(const Timeline &timeline, const Moment &moment, const Labels &labels) {
  if (const auto *step = std::get_if<StepBegin>(&moment))
    return timeline.beginOfStep(step->number);
  const auto *mark = std::get_if<MarkNamed>(&moment);
  return mark ? timeline.timeOfMark(labels.named(mark->label)) : std::nullopt;
}

// The window contains no event before this time. A step or mark that the last checkpoint does not know comes after it.
uint64_t earliestOf(const Moment &from, const TraceReader &reader, RunAnalysis &analysis) {
  if (const auto *time_ns = std::get_if<uint64_t>(&from))
    return *time_ns;
  const auto last = reader.checkpoint(reader.checkpoints().back());
  LiveSet live({});
  live.useLabels(analysis.catalog.labels());
  if (!last || !live.load(last->time_ns, last->state, [](SiteNumber) { return SiteId{}; }))
    return 0;
  return timeIn(live.timeline(), from, analysis.catalog.labels()).value_or(UINT64_MAX);
}

} // namespace

WindowBegin goToWindow(const Window &window, const TraceReader &reader, RunAnalysis &analysis) {
  const auto &places = reader.checkpoints();
  if (!window.from || places.empty())
    return {};
  const uint64_t earliest_ns = earliestOf(*window.from, reader, analysis);
  auto at = std::lower_bound(places.begin(), places.end(), earliest_ns,
                             [](const auto &place, uint64_t time_ns) { return place.time_ns < time_ns; });
  while (at != places.begin()) {
    const auto checkpoint = reader.checkpoint(*--at);
    if (checkpoint && analysis.pipeline.goOnFrom(*checkpoint))
      return {checkpoint->time_ns + 1, checkpoint->events};
  }
  return {};
}

} // namespace msleaks::analysis::inline report
