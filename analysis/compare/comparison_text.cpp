#include "analysis/base/text.h"
#include "analysis/compare/common_factor.h"
#include "analysis/compare/place_tree.h"
#include "analysis/compare/run_comparison.h"
#include "analysis/text/site_text.h"
#include "analysis/text/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <span>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostRows = 10, kMostFacts = 8, kMostFindings = 5, kWidestFact = 60, kWidestFinding = 70;

void writeEnvironment(TextTable &table, const RunComparison &comparison, size_t most) {
  if (comparison.environment.empty())
    return;
  table.heading("The runs differ in");
  const std::span changes(comparison.environment);
  for (const EnvironmentChange &change : changes.first(std::min(changes.size(), most))) {
    const auto shown = [](const std::string &text) {
      return text.empty() ? std::string("none") : cutEnd(printable(text), kWidestFact);
    };
    table.paragraph("  ",
                    fmt::format("{}: {} -> {}", printable(change.name), shown(change.before), shown(change.after)));
  }
  if (changes.size() > most)
    table.line(fmt::format("  and {} more: --all", changes.size() - most));
}

std::string countsText(const ComparedPlace &place) {
  const uint64_t before = place.before ? place.before->count : 0, after = place.after ? place.after->count : 0;
  return before == after ? countText(after) : fmt::format("{} -> {}", countText(before), countText(after));
}

// Returns a text like "src/net.cpp:40:5 in net::run()".
std::string callerText(const FrameText &caller, size_t columns) {
  SiteText site;
  static_cast<FrameText &>(site) = caller;
  return caller.file.empty() ? analysis::nameOf(site, columns) : analysis::placeAndNameOf(site, columns);
}

// Writes how many places have each state.
void writePlaceCounts(std::ostream &to, const std::string &title, const ComparedMemory &memory) {
  size_t counts[kPlaceStates] = {};
  for (const ComparedPlace &place : memory.places)
    ++counts[static_cast<size_t>(place.state)];
  const auto countOf = [&](PlaceState state) { return counts[static_cast<size_t>(state)]; };
  std::string states;
  for (const PlaceState state : {PlaceState::Grown, PlaceState::Shrunk, PlaceState::New, PlaceState::Gone,
                                 PlaceState::Moved, PlaceState::Same, PlaceState::Varies})
    if (countOf(state) != 0)
      states += fmt::format("{}{} {}", states.empty() ? "" : ", ", countText(countOf(state)), nameOf(state));
  to << fmt::format("\n{} {} -> {}; places: {}\n", title, bytesText(memory.before_bytes), bytesText(memory.after_bytes),
                    states.empty() ? "none" : states);
}

// Writes one row for each place that differs.
void writePlaces(std::ostream &to, const ComparedMemory &memory, size_t columns) {
  size_t shown = 0, left_out = 0;
  for (const ComparedPlace &place : memory.places) {
    if (place.state == PlaceState::Same || place.state == PlaceState::Moved || place.state == PlaceState::Varies)
      continue;
    if (shown++ >= kMostRows) {
      ++left_out;
      continue;
    }
    if (shown == 1)
      to << fmt::format("  {:>11}  {:>10}  {:>10}  {:<15}  place\n", "change", "A", "B", "blocks");
    constexpr size_t kBefore = 2 + 11 + 2 + 10 + 2 + 10 + 2 + 15 + 2;
    const size_t room = columns > kBefore + 20 ? columns - kBefore : 20;
    const SiteText site = place.wholeSite();
    to << fmt::format("  {:>11}  {:>10}  {:>10}  {:<15}  {}\n", changeText(place.changeBytes()),
                      place.before ? bytesText(place.before->bytes) : "-",
                      place.after ? bytesText(place.after->bytes) : "-", countsText(place),
                      analysis::placeOf(place.site, room));
    if (const std::string name = analysis::nameOf(site, columns > 6 ? columns - 6 : 1); !name.empty())
      to << fmt::format("      {}\n", name);
    if (place.caller && place.caller->function != "main")
      to << fmt::format("      < {}\n", callerText(*place.caller, columns > 8 ? columns - 8 : 1));
  }
  if (left_out != 0)
    to << fmt::format("  and {} more: --all\n", countText(left_out));
}

// Writes the number of runs of each side, and how much these runs differ.
void writeRepetition(TextTable &table, const RunComparison &comparison) {
  if (comparison.first_runs == 1 && comparison.second_runs == 1)
    return;
  size_t varying = 0;
  for (const ComparedPlace &place : comparison.alive.places)
    varying += place.state == PlaceState::Varies;
  std::string text = fmt::format("A is the mean of {} runs, B of {}. Runs of one side ", comparison.first_runs,
                                 comparison.second_runs);
  const uint64_t spread_bytes = comparison.alive.spread_bytes;
  text += spread_bytes == 0 ? "have the same sum." : fmt::format("differ by up to {}.", bytesText(spread_bytes));
  if (varying != 0)
    text += fmt::format(" {} {} between them by as much as between A and B, and {} left out.", countText(varying),
                        varying == 1 ? "place varies" : "places vary", varying == 1 ? "is" : "are");
  table.paragraph("", text);
}

void writeLaunchCounts(std::ostream &to, const RunComparison &comparison) {
  if (!comparison.launches || comparison.launches->differing.empty())
    return;
  const LaunchDifferences &launches = *comparison.launches;
  to << fmt::format("\nLaunches: {} changed, {} new, {} gone, {} same ({}): --json\n", countText(launches.changed),
                    countText(launches.added), countText(launches.gone), countText(launches.same),
                    changeText(launches.change_bytes));
}

void writeFindings(std::ostream &to, const RunComparison &comparison, size_t most) {
  size_t shown = 0;
  for (const FindingChange &change : comparison.findings) {
    if (shown++ == 0)
      to << "\nFindings of one run only\n";
    if (shown <= most)
      to << fmt::format("  {:<4}  {} ({}) at {}\n", nameOf(change.state), change.finding.kind,
                        bytesText(change.finding.bytes), analysis::placeAndNameOf(change.finding.site, kWidestFinding));
  }
  if (shown > most)
    to << fmt::format("  and {} more: --all\n", countText(shown - most));
}

} // namespace

void writeComparisonText(std::ostream &to, const RunComparison &comparison, size_t columns, bool is_whole) {
  TextTable table(to, {.columns = columns});
  table.paragraph("", sentenceOf(comparison));
  if (const std::string text = factorText(comparison.alive); !text.empty())
    table.paragraph("", text);
  writeRepetition(table, comparison);
  writeEnvironment(table, comparison, is_whole ? SIZE_MAX : kMostFacts);
  const auto writeMemory = [&](const std::string &title, const ComparedMemory &memory) {
    writePlaceCounts(to, title, memory);
    if (is_whole)
      writePlaceTrees(to, memory, comparison.environment, columns);
    else
      writePlaces(to, memory, columns);
  };
  writeMemory(comparison.at == "peak" ? "Peak" : fmt::format("At {}", printable(comparison.at)), comparison.alive);
  if (comparison.leaks.differs())
    writeMemory("Leaks", comparison.leaks);
  if (comparison.pool_leaks.differs())
    writeMemory("Leaks in pools", comparison.pool_leaks);
  writeLaunchCounts(to, comparison);
  writeFindings(to, comparison, is_whole ? SIZE_MAX : kMostFindings);
}

} // namespace msleaks::analysis::inline compare
