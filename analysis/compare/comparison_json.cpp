#include "analysis/compare/common_factor.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/result/writer.h"

namespace msleaks::analysis::inline compare {
namespace {

Json jsonOf(const BlockSum &sum) { return {{"bytes", sum.bytes}, {"count", sum.count}}; }

Json jsonOf(const ComparedPlace &place) {
  return {{"site", analysis::jsonOf(place.site)},
          {"variable", place.variable.empty() ? Json() : Json(place.variable)},
          {"type", place.type.empty() ? Json() : Json(place.type)},
          {"before", jsonOf(place.before.value_or(BlockSum{}))},
          {"after", jsonOf(place.after.value_or(BlockSum{}))},
          {"change_bytes", place.changeBytes()},
          {"spread_bytes", place.spread_bytes},
          {"state", nameOf(place.state)},
          {"caller", place.caller ? frameJson(*place.caller) : Json()}};
}

Json bytesOf(uint64_t before, uint64_t after) {
  return {{"before", before}, {"after", after}, {"change_bytes", static_cast<int64_t>(after - before)}};
}

Json sitesOf(const ComparedMemory &memory) {
  Json sites = Json::array();
  for (const ComparedPlace &place : memory.places)
    sites.push_back(jsonOf(place));
  return sites;
}

Json memoryOf(const ComparedMemory &memory) {
  return {{"before", memory.before_bytes},
          {"after", memory.after_bytes},
          {"change_bytes", memory.changeBytes()},
          {"sites", sitesOf(memory)}};
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

// Says how much runs of one side differ. Null: each side is one run.
Json noiseOf(const RunComparison &comparison) {
  if (comparison.first_runs == 1 && comparison.second_runs == 1)
    return {};
  return {{"runs", {comparison.first_runs, comparison.second_runs}},
          {"peak_bytes", comparison.peak_spread_bytes},
          {"at_bytes", comparison.alive.spread_bytes},
          {"leaks_bytes", comparison.leaks.spread_bytes}};
}

Json factorsOf(const ComparedMemory &memory) {
  Json list = Json::array();
  for (const PlaceState state : {PlaceState::Grown, PlaceState::Shrunk})
    if (const auto common = commonFactorOf(memory, state))
      list.push_back({{"state", nameOf(state)}, {"factor", common->factor}, {"places", common->places}});
  return list;
}

} // namespace

Json comparisonJson(const RunComparison &comparison, const NameTable &names) {
  const ComparedMemory &alive = comparison.alive;
  Json leaks = memoryOf(comparison.leaks);
  leaks["pool"] = memoryOf(comparison.pool_leaks);
  const auto &launches = comparison.launches;
  return {{"runs", {comparison.first, comparison.second}},
          {"differs", comparison.differs()},
          {"environment", environmentOf(comparison)},
          {"peak", bytesOf(comparison.peak_before_bytes, comparison.peak_after_bytes)},
          {"at",
           {{"when", comparison.at},
            {"before", alive.before_bytes},
            {"after", alive.after_bytes},
            {"change_bytes", alive.changeBytes()}}},
          {"sites", sitesOf(alive)},
          {"leaks", std::move(leaks)},
          {"allocated", memoryOf(comparison.allocated)},
          {"launches", launches ? launchesJson(*launches, names) : Json::array()},
          {"launch_counts", launches ? launchCountsJson(*launches) : Json()},
          {"findings", findingsOf(comparison)},
          {"noise", noiseOf(comparison)},
          {"factors", factorsOf(alive)}};
}

void writeComparisonJson(std::ostream &to, const RunComparison &comparison, const NameTable &names) {
  write(to, comparisonJson(comparison, names), 2);
  to << '\n';
}

} // namespace msleaks::analysis::inline compare
