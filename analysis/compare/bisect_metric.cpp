#include "analysis/compare/bisect_metric.h"

#include <charconv>
#include <fmt/format.h>

namespace msleaks::analysis::inline compare {
namespace {

constexpr std::string_view kPlace = "place";

// Returns the number after the last colon, or 0 if there is none.
uint32_t lineOf(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return 0;
  const char *end = text.data() + text.size();
  uint32_t line = 0;
  const auto [read, error] = std::from_chars(text.data() + colon + 1, end, line);
  return error == std::errc() && read == end ? line : 0;
}

bool isFileNamed(std::string_view path, std::string_view file) {
  return path.ends_with(file) && (path.size() == file.size() || path[path.size() - file.size() - 1] == '/');
}

} // namespace

Result<BisectMetric> parseBisectMetric(const std::string &text) {
  if (text == "peak" || text == "leaks")
    return BisectMetric{text == "peak" ? BisectMetric::Kind::Peak : BisectMetric::Kind::Leaks, {}, 0};
  const bool is_place = text.starts_with(kPlace) && text.size() > kPlace.size() + 1 &&
                        (text[kPlace.size()] == ' ' || text[kPlace.size()] == ':');
  const std::string place = is_place ? text.substr(kPlace.size() + 1) : "";
  if (lineOf(place) == 0)
    return fail(fmt::format("--metric {}: give peak, leaks or place FILE:LINE", text), ExitStatus::Usage);
  return BisectMetric{BisectMetric::Kind::Place, place.substr(0, place.rfind(':')), lineOf(place)};
}

std::string textOf(const BisectMetric &metric) {
  switch (metric.kind) {
  case BisectMetric::Kind::Peak:
    return "peak";
  case BisectMetric::Kind::Leaks:
    return "leaks";
  case BisectMetric::Kind::Place:
    return fmt::format("place {}:{}", metric.file, metric.line);
  }
  return {};
}

bool BisectFigures::isAsked(const SiteText &site) const {
  return site.line == metric_.line && isFileNamed(site.file, metric_.file);
}

std::optional<uint64_t> BisectFigures::placeBytes(const Report &report, const Report &reference) const {
  const RunComparison comparison = compareRuns(report, reference, at_);
  for (const ComparedMemory *memory : {&comparison.alive, &comparison.leaks, &comparison.pool_leaks}) {
    std::optional<uint64_t> bytes;
    for (const ComparedPlace &place : memory->places)
      if (place.state != PlaceState::Gone && isAsked(place.site))
        bytes = bytes.value_or(0) + (place.before ? place.before->bytes : 0);
    if (bytes)
      return bytes;
  }
  return {};
}

Result<BisectFigures> BisectFigures::of(const BisectMetric &metric, const Report &good, const Report &bad, StateAt at) {
  BisectFigures figures(metric, at);
  if (metric.kind != BisectMetric::Kind::Place)
    return figures;
  for (const Report *report : {&bad, &good})
    if (figures.placeBytes(*report, *report)) {
      figures.reference_ = *report;
      return figures;
    }
  return fail(fmt::format("{}:{}: neither GOOD nor BAD has blocks of such a place; `msleaks compare` of a run of each "
                          "lists the places",
                          metric.file, metric.line));
}

uint64_t BisectFigures::bytesOf(const Report &report) const {
  if (metric_.kind == BisectMetric::Kind::Leaks)
    return report.leaks.sum.bytes + report.leaks.pool_sum.bytes;
  return reference_ ? placeBytes(report, *reference_).value_or(0) : report.peak.bytes;
}

} // namespace msleaks::analysis::inline compare
