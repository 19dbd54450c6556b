#include "analysis/compare/run_comparison.h"

#include "analysis/base/base_name.h"
#include "analysis/report/site_text.h"
#include "analysis/report/text_format.h"
#include "analysis/report/text_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <span>

namespace msleaks::analysis::compare {
namespace {

constexpr size_t kMostCauses = 3, kMostRows = 10, kMostFacts = 8, kMostFindings = 5, kWidestFact = 60;

// "+400 MiB"
std::string signedText(int64_t change) {
  return fmt::format("{}{}", change < 0 ? '-' : '+', bytesText(sizeOf(change)));
}

// "conv.cpp:218 (`output`)"
std::string shortPlace(const ComparedPlace &place) {
  constexpr size_t kWidest = 60;
  SiteText site = place.site;
  site.file = std::string(baseName(site.file));
  site.column = 0;
  std::string text = analysis::placeOf(site, kWidest);
  if (site.file.empty() && !site.function.empty())
    text = fmt::format("{} in {}", printable(baseName(site.library)), shortFunction(site.function, kWidest));
  return place.variable.empty() ? text : fmt::format("{} (`{}`)", text, printable(place.variable));
}

// "twice", "2.5 times"
std::string timesText(double ratio) {
  if (ratio > 1.995 && ratio < 2.005)
    return "twice";
  return fmt::format("{:.3g} times", ratio);
}

// Why the bytes of a place changed: other blocks, or larger ones.
std::string reasonOf(const ComparedPlace &place) {
  if (!place.before)
    return "new";
  if (!place.after)
    return "gone";
  const BlockSum before = *place.before, after = *place.after;
  if (before.count == after.count && before.count != 0 && before.bytes != 0) {
    const double ratio = static_cast<double>(after.bytes) / static_cast<double>(before.bytes);
    return ratio > 1 ? fmt::format("{} the bytes for each block", timesText(ratio))
                     : fmt::format("{:.3g} of the bytes for each block", ratio);
  }
  return fmt::format("{} block{} instead of {}", countText(after.count), after.count == 1 ? "" : "s",
                     countText(before.count));
}

// The places that explain most of a change: a tenth of it, in its direction.
std::vector<const ComparedPlace *> causesOf(const ComparedMemory &memory) {
  std::vector<const ComparedPlace *> causes;
  const int64_t change = memory.changeBytes();
  for (const ComparedPlace &place : memory.places)
    if (causes.size() < kMostCauses && (place.changeBytes() < 0) == (change < 0) &&
        sizeOf(place.changeBytes()) >= std::max<uint64_t>(sizeOf(change) / 10, 1))
      causes.push_back(&place);
  return causes;
}

// One sentence: how much more or less, and which places.
std::string sentenceOf(const RunComparison &comparison) {
  const int64_t change = comparison.alive.changeBytes();
  const std::string when = comparison.at == "peak"  ? "at its peak"
                           : comparison.at == "end" ? "at its end"
                                                    : fmt::format("at {}", printable(comparison.at));
  if (change == 0)
    return comparison.differs() ? fmt::format("B needs as many bytes as A {}, but its memory differs.", when)
                                : "B needs the same memory as A.";
  std::string text = fmt::format("B needs {} {} {}", bytesText(sizeOf(change)), change > 0 ? "more" : "less", when);
  const auto causes = causesOf(comparison.alive);
  for (size_t i = 0; i < causes.size(); ++i)
    text += fmt::format("{} {}{} at {}, {}", i == 0 ? ":" : ";", bytesText(sizeOf(causes[i]->changeBytes())),
                        i == 0 ? " of it" : "", shortPlace(*causes[i]), reasonOf(*causes[i]));
  return text + (causes.empty() ? ", in many places." : ".");
}

void writeEnvironment(TextTable &table, const RunComparison &comparison) {
  if (comparison.environment.empty())
    return;
  table.heading("The runs differ in");
  const std::span changes(comparison.environment);
  for (const EnvironmentChange &change : changes.first(std::min(changes.size(), kMostFacts))) {
    const auto shown = [](const std::string &text) {
      return text.empty() ? std::string("none") : cutEnd(printable(text), kWidestFact);
    };
    table.paragraph("  ",
                    fmt::format("{}: {} -> {}", printable(change.name), shown(change.before), shown(change.after)));
  }
  if (changes.size() > kMostFacts)
    table.line(fmt::format("  and {} more: --json", changes.size() - kMostFacts));
}

std::string blocksText(const ComparedPlace &place) {
  const uint64_t before = place.before ? place.before->count : 0, after = place.after ? place.after->count : 0;
  return before == after ? countText(after) : fmt::format("{} -> {}", countText(before), countText(after));
}

// The differing places: a row each.
void writePlaces(std::ostream &to, const std::string &title, const ComparedMemory &memory, size_t columns) {
  size_t counts[6] = {};
  for (const ComparedPlace &place : memory.places)
    ++counts[static_cast<size_t>(place.state)];
  const auto countOf = [&](PlaceState state) { return counts[static_cast<size_t>(state)]; };
  std::string states;
  for (const PlaceState state :
       {PlaceState::Grown, PlaceState::Shrunk, PlaceState::New, PlaceState::Gone, PlaceState::Moved, PlaceState::Same})
    if (countOf(state) != 0)
      states += fmt::format("{}{} {}", states.empty() ? "" : ", ", countText(countOf(state)), nameOf(state));
  to << fmt::format("\n{} {} -> {}; places: {}\n", title, bytesText(memory.before_bytes), bytesText(memory.after_bytes),
                    states.empty() ? "none" : states);
  size_t shown = 0, left_out = 0;
  for (const ComparedPlace &place : memory.places) {
    if (place.state == PlaceState::Same || place.state == PlaceState::Moved)
      continue;
    if (shown++ >= kMostRows) {
      ++left_out;
      continue;
    }
    if (shown == 1)
      to << fmt::format("  {:>11}  {:>10}  {:>10}  {:<15}  place\n", "change", "A", "B", "blocks");
    constexpr size_t kBefore = 2 + 11 + 2 + 10 + 2 + 10 + 2 + 15 + 2;
    const size_t room = columns > kBefore + 20 ? columns - kBefore : 20;
    SiteText site = place.site;
    if (site.variable.empty())
      site.variable = place.variable;
    if (site.type.empty())
      site.type = place.type;
    to << fmt::format("  {:>11}  {:>10}  {:>10}  {:<15}  {}\n", signedText(place.changeBytes()),
                      place.before ? bytesText(place.before->bytes) : "-",
                      place.after ? bytesText(place.after->bytes) : "-", blocksText(place),
                      analysis::placeOf(place.site, room));
    if (const std::string name = analysis::nameOf(site, columns > 6 ? columns - 6 : 1); !name.empty())
      to << fmt::format("      {}\n", name);
  }
  if (left_out != 0)
    to << fmt::format("  and {} more: --json\n", countText(left_out));
}

void writeLaunchCounts(std::ostream &to, const RunComparison &comparison) {
  if (!comparison.launches || comparison.launches->differing.empty())
    return;
  const LaunchDifferences &launches = *comparison.launches;
  to << fmt::format("\nLaunches: {} changed, {} new, {} gone, {} same ({}): --json\n", countText(launches.changed),
                    countText(launches.added), countText(launches.gone), countText(launches.same),
                    signedText(launches.change_bytes));
}

void writeFindings(std::ostream &to, const RunComparison &comparison) {
  size_t shown = 0;
  for (const FindingChange &change : comparison.findings) {
    if (shown++ == 0)
      to << "\nFindings of one run only\n";
    if (shown <= kMostFindings)
      to << fmt::format("  {:<4}  {} ({}) at {}\n", nameOf(change.state), change.finding.kind,
                        bytesText(change.finding.bytes), analysis::placeOf(change.finding.site, 60));
  }
  if (shown > kMostFindings)
    to << fmt::format("  and {} more: --json\n", countText(shown - kMostFindings));
}

} // namespace

void writeComparisonText(std::ostream &to, const RunComparison &comparison, size_t columns) {
  TextTable table(to, {.columns = columns});
  table.paragraph("", sentenceOf(comparison));
  writeEnvironment(table, comparison);
  const bool is_peak = comparison.at == "peak";
  writePlaces(to, is_peak ? "Peak" : fmt::format("At {}", printable(comparison.at)), comparison.alive, columns);
  if (comparison.leaks.differs())
    writePlaces(to, "Leaks", comparison.leaks, columns);
  if (comparison.pool_leaks.differs())
    writePlaces(to, "Leaks in pools", comparison.pool_leaks, columns);
  writeLaunchCounts(to, comparison);
  writeFindings(to, comparison);
}

} // namespace msleaks::analysis::compare
