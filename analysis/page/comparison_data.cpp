#include "analysis/page/comparison_data.h"

#include "analysis/page/page_tables.h"
#include "analysis/text/finding_title.h"
#include "analysis/text/site_text.h"

#include <string_view>

namespace msleaks::analysis::inline page {
namespace {

Json bytesOf(const std::optional<BlockSum> &sum) { return sum ? sum->bytes : 0; }
Json countOf(const std::optional<BlockSum> &sum) { return sum ? sum->count : 0; }

Json rowOf(const ComparedPlace &place) {
  return {placeAndNameOf(place.wholeSite(), kPlaceColumns),
          nameOf(place.state),
          place.changeBytes(),
          bytesOf(place.before),
          bytesOf(place.after),
          countOf(place.before),
          countOf(place.after)};
}

// The table of the places that differ.
Json placesOf(std::string_view name, std::string_view title, const ComparedMemory &memory) {
  Json rows = Json::array();
  size_t in_all = 0;
  for (const ComparedPlace &place : memory.places) {
    if (place.state == PlaceState::Same)
      continue;
    ++in_all;
    if (rows.size() < kMostRows)
      rows.push_back(rowOf(place));
  }
  return tableJson(name, title,
                   {{"place", Unit::Place},
                    {"state", Unit::Text},
                    {"change", Unit::Bytes},
                    {"A", Unit::Bytes},
                    {"B", Unit::Bytes},
                    {"blocks_A", Unit::Count},
                    {"blocks_B", Unit::Count}},
                   std::move(rows), in_all);
}

Json peakOf(const std::optional<LaunchMemory> &launch) { return launch ? Json(launch->peak_bytes) : Json(); }

Json launchesOf(const LaunchDifferences &launches, const NameTable &names) {
  Json rows = Json::array();
  for (size_t i = 0; i < launches.differing.size() && i < kMostRows; ++i) {
    const LaunchDifference &launch = launches.differing[i];
    rows.push_back(
        {names[launch.name], nameOf(launch.state), launch.changeBytes(), peakOf(launch.before), peakOf(launch.after)});
  }
  return tableJson("launches", "Launches that differ",
                   {{"launch", Unit::Text},
                    {"state", Unit::Text},
                    {"change", Unit::Bytes},
                    {"peak_in_A", Unit::Bytes},
                    {"peak_in_B", Unit::Bytes}},
                   std::move(rows), launches.differing.size());
}

Json memoryOf(const std::optional<LaunchMemory> &launch) {
  return launch ? Json::array({launch->before_bytes, launch->after_bytes, launch->peak_bytes}) : Json();
}

// Both sequences side by side.
Json alignedOf(const LaunchDifferences &launches, const NameTable &names) {
  Json rows = Json::array();
  for (const AlignedLaunch &launch : launches.aligned)
    rows.push_back({{"name", names[launch.name]},
                    {"kind", launch.is_range ? "range" : "launch"},
                    {"device", launch.device ? Json(*launch.device) : Json()},
                    {"process", launch.process},
                    {"state", nameOf(launch.state)},
                    {"before", memoryOf(launch.before)},
                    {"after", memoryOf(launch.after)},
                    {"same_before", launch.same_before},
                    {"same_after", launch.same_after}});
  return {{"same", launches.same},
          {"coarse", launches.coarse},
          {"rows", std::move(rows)},
          {"differing_left_out", launches.differing_left_out}};
}

Json environmentOf(const std::vector<EnvironmentChange> &changes) {
  Json rows = Json::array();
  for (const EnvironmentChange &change : changes)
    rows.push_back({change.name, change.before, change.after});
  return tableJson("environment", "Other differences of the runs",
                   {{"fact", Unit::Text}, {"A", Unit::Text}, {"B", Unit::Text}}, std::move(rows), changes.size());
}

Json findingsOf(const std::vector<FindingChange> &findings) {
  Json changes = Json::array();
  for (const FindingChange &change : findings)
    changes.push_back({{"state", nameOf(change.state)}, {"title", titleOf(change.finding)}});
  return changes;
}

} // namespace

Json comparisonData(const RunComparison &comparison, const NameTable &names) {
  Json tables = Json::array();
  tables.push_back(placesOf("alive", "Places alive at " + comparison.at, comparison.alive));
  tables.push_back(placesOf("leaks", "Places that leak", comparison.leaks));
  tables.push_back(placesOf("allocated", "Places by all they allocate", comparison.allocated));
  if (comparison.launches)
    tables.push_back(launchesOf(*comparison.launches, names));
  tables.push_back(environmentOf(comparison.environment));
  return {{"first", comparison.first},
          {"second", comparison.second},
          {"sentence", sentenceOf(comparison)},
          {"at", comparison.at},
          {"before_bytes", comparison.alive.before_bytes},
          {"after_bytes", comparison.alive.after_bytes},
          {"findings", findingsOf(comparison.findings)},
          {"launches", comparison.launches ? alignedOf(*comparison.launches, names) : Json()},
          {"tables", std::move(tables)}};
}

} // namespace msleaks::analysis::inline page
