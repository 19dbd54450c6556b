#include "analysis/compare/run_comparison.h"

#include "analysis/base/base_name.h"
#include "analysis/compare/same_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace msleaks::analysis::compare {
namespace {

int64_t difference(uint64_t before, uint64_t after) { return static_cast<int64_t>(after - before); }

// One side of the comparison: the places of a list, and what the matcher must know of each.
struct Side {
  std::vector<PlaceFigures> figures;
  std::vector<SiteText> sites;
};

template <class Line> Side sideOf(const std::vector<Line> &lines) {
  Side side;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> functions; // of libraries
  for (const SiteLine &line : lines) {
    PlaceFigures place = analysis::figuresOf(line, "");
    if (!line.own) {
      place.library = std::string(libraryName(line.site.library));
      place.function = line.site.function;
      const auto [at, fresh] =
          functions.emplace(std::tuple(place.library, place.function, place.child), side.figures.size());
      if (!fresh) {
        side.figures[at->second].bytes += place.bytes;
        side.figures[at->second].count += place.count;
        continue;
      }
    }
    side.figures.push_back(std::move(place));
    side.sites.push_back(line.site);
  }
  return side;
}

ComparedPlace placeOf(const Side &side, size_t index) {
  const PlaceFigures &figures = side.figures[index];
  ComparedPlace place;
  place.site = side.sites[index];
  place.own = figures.own;
  place.variable = figures.variable;
  place.type = figures.type;
  return place;
}

BlockSum sumOf(const PlaceFigures &figures) { return {figures.bytes, figures.count}; }

PlaceState stateOf(const PlaceFigures &before, const PlaceFigures &after) {
  if (after.bytes != before.bytes)
    return after.bytes > before.bytes ? PlaceState::Grown : PlaceState::Shrunk;
  if (after.count != before.count)
    return after.count > before.count ? PlaceState::Grown : PlaceState::Shrunk;
  const auto whereOf = [](const PlaceFigures &place) { return std::tie(place.file, place.line, place.function); };
  return after.own && whereOf(before) != whereOf(after) ? PlaceState::Moved : PlaceState::Same;
}

uint64_t sizeOf(int64_t change) { return change < 0 ? -static_cast<uint64_t>(change) : static_cast<uint64_t>(change); }

void sortByChange(std::vector<ComparedPlace> &places) {
  const auto orderOf = [](const ComparedPlace &place) {
    return std::tie(place.site.file, place.site.line, place.site.column, place.site.library, place.site.function);
  };
  std::sort(places.begin(), places.end(), [&](const ComparedPlace &a, const ComparedPlace &b) {
    const uint64_t first = sizeOf(a.changeBytes()), second = sizeOf(b.changeBytes());
    return first != second ? first > second : orderOf(a) < orderOf(b);
  });
}

ComparedMemory compareMemory(const Side &before, const Side &after, const Relocation &relocation) {
  ComparedMemory memory;
  const SamePlaces same = samePlaces(before.figures, after.figures, relocation);
  for (const auto &[old_index, new_index] : same.pairs) {
    ComparedPlace &place = memory.places.emplace_back(placeOf(after, new_index));
    place.before = sumOf(before.figures[old_index]);
    place.after = sumOf(after.figures[new_index]);
    place.state = stateOf(before.figures[old_index], after.figures[new_index]);
  }
  for (const size_t index : same.fresh) {
    ComparedPlace &place = memory.places.emplace_back(placeOf(after, index));
    place.after = sumOf(after.figures[index]);
    place.state = PlaceState::New;
  }
  for (const size_t index : same.gone) {
    ComparedPlace &place = memory.places.emplace_back(placeOf(before, index));
    place.before = sumOf(before.figures[index]);
    place.state = PlaceState::Gone;
  }
  sortByChange(memory.places);
  return memory;
}

std::string exitText(const Report &report) {
  if (report.processes.empty() || !report.processes.front().exit)
    return "not known";
  return std::to_string(*report.processes.front().exit);
}

std::vector<EnvironmentChange> compareEnvironments(const Report &first, const Report &second) {
  std::vector<EnvironmentChange> changes;
  const auto compare = [&](const char *name, const std::string &before, const std::string &after) {
    if (before != after)
      changes.push_back({name, before, after});
  };
  const auto commandOf = [](const Report &report) { return fmt::format("{}", fmt::join(report.command, " ")); };
  compare("command", commandOf(first), commandOf(second));
  compare("exit", exitText(first), exitText(second));
  compare("processes", std::to_string(first.processes.size()), std::to_string(second.processes.size()));
  const auto completeness = [](const Report &report) { return report.complete() ? "complete" : "incomplete"; };
  compare("recording", completeness(first), completeness(second));
  std::map<std::string, std::pair<std::string, std::string>> facts;
  for (const NamedText &fact : first.environment)
    facts[fact.name].first = fact.text;
  for (const NamedText &fact : second.environment)
    facts[fact.name].second = fact.text;
  for (const auto &[name, both] : facts)
    compare(name.c_str(), both.first, both.second);
  return changes;
}

std::vector<FindingChange> compareFindings(const Report &first, const Report &second) {
  std::vector<FindingChange> changes;
  const auto addMissing = [&](const Report &in, const Report &from, PlaceState state) {
    std::set<std::string> known;
    for (const Finding &finding : from.findings)
      known.insert(finding.id);
    for (const Finding &finding : in.findings)
      if (!known.contains(finding.id))
        changes.push_back({finding, state});
  };
  addMissing(second, first, PlaceState::New);
  addMissing(first, second, PlaceState::Gone);
  return changes;
}

} // namespace

const char *nameOf(PlaceState state) {
  constexpr const char *kNames[] = {"same", "grown", "shrunk", "new", "gone", "moved"};
  return kNames[static_cast<size_t>(state)];
}

int64_t ComparedPlace::changeBytes() const { return difference(before ? before->bytes : 0, after ? after->bytes : 0); }

int64_t ComparedMemory::changeBytes() const { return difference(before_bytes, after_bytes); }

bool ComparedMemory::differs() const {
  return before_bytes != after_bytes || std::any_of(places.begin(), places.end(), [](const ComparedPlace &place) {
           return place.state != PlaceState::Same && place.state != PlaceState::Moved;
         });
}

bool RunComparison::differs() const {
  return peak.differs() || leaks.differs() || (launches && !launches->differing.empty());
}

RunComparison compareRuns(const Report &first, const Report &second) {
  RunComparison comparison;
  comparison.first = first.run;
  comparison.second = second.run;
  comparison.environment = compareEnvironments(first, second);
  const Side peak_before = sideOf(first.peak.by_site), peak_after = sideOf(second.peak.by_site);
  const Side leaks_before = sideOf(first.leaks.by_site), leaks_after = sideOf(second.leaks.by_site);
  const bool has_peaks = !peak_before.figures.empty() && !peak_after.figures.empty();
  const Relocation relocation(has_peaks ? peak_before.figures : leaks_before.figures,
                              has_peaks ? peak_after.figures : leaks_after.figures);
  comparison.peak = compareMemory(peak_before, peak_after, relocation);
  comparison.peak.before_bytes = first.peak.bytes;
  comparison.peak.after_bytes = second.peak.bytes;
  comparison.leaks = compareMemory(leaks_before, leaks_after, relocation);
  comparison.leaks.before_bytes = first.leaks.sum.bytes;
  comparison.leaks.after_bytes = second.leaks.sum.bytes;
  comparison.findings = compareFindings(first, second);
  return comparison;
}

} // namespace msleaks::analysis::compare
