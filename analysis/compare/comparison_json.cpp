#include "analysis/compare/run_comparison.h"

#include "analysis/report/report_json.h"

namespace msleaks::analysis::compare {
namespace {

Json jsonOf(const BlockSum &sum) { return {{"bytes", sum.bytes}, {"count", sum.count}}; }

Json jsonOf(const ComparedPlace &place) {
  return {{"site", analysis::jsonOf(place.site)},
          {"variable", place.variable.empty() ? Json() : Json(place.variable)},
          {"type", place.type.empty() ? Json() : Json(place.type)},
          {"before", jsonOf(place.before.value_or(BlockSum{}))},
          {"after", jsonOf(place.after.value_or(BlockSum{}))},
          {"change_bytes", place.changeBytes()},
          {"state", nameOf(place.state)}};
}

Json sitesOf(const ComparedMemory &memory) {
  Json sites = Json::array();
  for (const ComparedPlace &place : memory.places)
    sites.push_back(jsonOf(place));
  return sites;
}

Json environmentOf(const RunComparison &comparison) {
  Json list = Json::array();
  for (const EnvironmentChange &change : comparison.environment)
    list.push_back({{"name", change.name}, {"before", change.before}, {"after", change.after}});
  return list;
}

Json findingsOf(const RunComparison &comparison) {
  Json list = Json::array();
  for (const FindingChange &change : comparison.findings) {
    Json json = findingsJson({change.finding}).front();
    json["state"] = nameOf(change.state);
    list.push_back(std::move(json));
  }
  return list;
}

} // namespace

void writeComparisonJson(std::ostream &to, const RunComparison &comparison, const NameTable &names) {
  const auto &[first, second, environment, peak, leaks, launches, findings] = comparison;
  const Json json = {
      {"runs", {first, second}},
      {"differs", comparison.differs()},
      {"environment", environmentOf(comparison)},
      {"peak", {{"before", peak.before_bytes}, {"after", peak.after_bytes}, {"change_bytes", peak.changeBytes()}}},
      {"sites", sitesOf(peak)},
      {"leaks",
       {{"before", leaks.before_bytes},
        {"after", leaks.after_bytes},
        {"change_bytes", leaks.changeBytes()},
        {"sites", sitesOf(leaks)}}},
      {"launches", launches ? launchesJson(*launches, names) : Json::array()},
      {"launch_counts", launches ? launchCountsJson(*launches) : Json()},
      {"findings", findingsOf(comparison)}};
  write(to, json, 2);
  to << '\n';
}

} // namespace msleaks::analysis::compare
