#include "analysis/compare/run_comparison.h"

#include "analysis/base/text.h"
#include "analysis/compare/joined_places.h"
#include "analysis/compare/place_callers.h"
#include "analysis/compare/same_places.h"
#include "analysis/places/place.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/result/place_key.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline compare {
namespace {

int64_t difference(uint64_t before, uint64_t after) { return static_cast<int64_t>(after - before); }

template <class Line> void addPointers(const std::vector<Line> &lines, SameLines &to) {
  for (const SiteLine &line : lines)
    to.push_back(&line);
}

Side sideOf(const SameLines &lines) {
  Side side;
  side.figures.reserve(lines.size());
  side.lines.reserve(lines.size());
  std::map<std::tuple<std::string, std::string, std::string>, size_t> functions; // places of functions in libraries
  for (const SiteLine *line : lines) {
    PlaceFigures place = analysis::figuresOf(*line, "");
    if (!line->own) {
      place.library = std::string(libraryName(line->site.library));
      place.function = line->site.function;
      const auto [at, fresh] =
          functions.emplace(std::tuple(place.library, place.function, place.child), side.figures.size());
      if (!fresh) {
        side.figures[at->second].bytes += place.bytes;
        side.figures[at->second].count += place.count;
        side.lines[at->second].push_back(line);
        continue;
      }
    }
    side.figures.push_back(std::move(place));
    side.lines.push_back({line});
  }
  return side;
}

template <class Line> Side sideOf(const std::vector<Line> &lines) {
  SameLines pointers;
  addPointers(lines, pointers);
  return sideOf(pointers);
}

// Returns the places that have blocks at a moment.
Side sideAt(const Report &report, StateAt at) {
  if (at == StateAt::Peak)
    return sideOf(report.peak.by_site);
  SameLines lines;
  addPointers(report.alive.by_site, lines);
  if (at == StateAt::End)
    addPointers(report.leaks.by_site, lines);
  return sideOf(lines);
}

// Returns the places with a source file, and how much each place allocated in all.
std::vector<SiteLine> allocatedBy(const Report &report) {
  std::vector<SiteLine> lines;
  const auto of = std::ranges::find(report.sections, "allocations", &Section::name);
  if (of == report.sections.end())
    return lines;
  for (const std::vector<Cell> &row : of->rows) {
    if (row.size() < 3)
      continue;
    const auto *place = std::get_if<std::shared_ptr<const SiteText>>(&row.at(0));
    const auto *bytes = std::get_if<uint64_t>(&row.at(1)), *count = std::get_if<uint64_t>(&row.at(2));
    if (!place || !*place || !bytes || !count || (*place)->file.empty() || isSystemPath((*place)->file))
      continue;
    SiteLine &line = lines.emplace_back();
    line.site = **place;
    line.own = true;
    line.bytes = *bytes;
    line.count = *count;
  }
  return lines;
}

uint64_t bytesOf(const Side &side) {
  return std::accumulate(side.figures.begin(), side.figures.end(), uint64_t{0},
                         [](uint64_t sum, const PlaceFigures &place) { return sum + place.bytes; });
}

uint64_t bytesAt(const Report &report, StateAt at) {
  if (at == StateAt::Peak)
    return report.peak.bytes;
  return report.alive.sum.bytes + (at == StateAt::End ? report.leaks.sum.bytes : 0);
}

ComparedPlace placeOf(const Side &side, size_t index) {
  const PlaceFigures &figures = side.figures[index];
  ComparedPlace place;
  place.site = side.lines[index].front()->site;
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

// A place and its lines in both reports.
struct MatchedPlace {
  ComparedPlace place;
  const SameLines *before = nullptr, *after = nullptr;
};

// Returns the indices of the places, largest change first. It sorts indices, because a place is large.
std::vector<size_t> orderByChange(const std::vector<MatchedPlace> &places) {
  const auto keyOf = [](const ComparedPlace &place) {
    return std::tie(place.site.file, place.site.line, place.site.column, place.site.library, place.site.function);
  };
  std::vector<std::pair<uint64_t, size_t>> changes;
  for (const MatchedPlace &matched : places)
    changes.emplace_back(sizeOf(matched.place.changeBytes()), changes.size());
  std::sort(changes.begin(), changes.end(), [&](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : keyOf(places[a.second].place) < keyOf(places[b.second].place);
  });
  std::vector<size_t> order;
  for (const auto &[change, index] : changes)
    order.push_back(index);
  return order;
}

// `bytes` are the bytes of all blocks in both runs.
ComparedMemory compareMemory(const Side &before, const Side &after, std::pair<uint64_t, uint64_t> bytes,
                             const Relocation &relocation) {
  SamePlaces same = samePlaces(before.figures, after.figures, relocation);
  std::vector<MatchedPlace> places;
  places.reserve(same.pairs.size() + same.fresh.size() + same.gone.size());
  for (const std::vector<size_t> &joined : joinPlaces(before, after, same)) {
    ComparedPlace place = placeOf(after, joined.front());
    BlockSum sum;
    for (const size_t index : joined)
      sum += sumOf(after.figures[index]);
    place.before = place.after = sum;
    place.state = PlaceState::Moved;
    places.push_back({std::move(place), nullptr, nullptr});
  }
  for (const auto &[old_index, new_index] : same.pairs) {
    ComparedPlace place = placeOf(after, new_index);
    place.before = sumOf(before.figures[old_index]);
    place.after = sumOf(after.figures[new_index]);
    place.state = stateOf(before.figures[old_index], after.figures[new_index]);
    places.push_back({std::move(place), &before.lines[old_index], &after.lines[new_index]});
  }
  for (const size_t index : same.fresh) {
    ComparedPlace place = placeOf(after, index);
    place.after = sumOf(after.figures[index]);
    place.state = PlaceState::New;
    places.push_back({std::move(place), nullptr, &after.lines[index]});
  }
  for (const size_t index : same.gone) {
    ComparedPlace place = placeOf(before, index);
    place.before = sumOf(before.figures[index]);
    place.state = PlaceState::Gone;
    places.push_back({std::move(place), &before.lines[index], nullptr});
  }
  ComparedMemory memory{bytes.first, bytes.second, {}, 0};
  memory.places.reserve(places.size());
  for (const size_t index : orderByChange(places)) {
    MatchedPlace &matched = places[index];
    if (memory.places.size() < kMostCallers)
      matched.place.caller = changedCaller(matched.before, matched.after);
    memory.places.push_back(std::move(matched.place));
  }
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

// Identifies a finding in both runs. The finding's id is not used, because it contains the folder of the file, which
// may differ. Parts and callers of the place are not used either. A stale pointer in a stack is enough to divide them
// differently among findings.
using FindingKey = std::tuple<std::string, abi::Heap, uint8_t, std::string, PlaceKey>;
FindingKey keyOf(const Finding &finding, const std::string &file) {
  PlaceKey key = analysis::keyOf(finding);
  if (!file.empty())
    key.file = file;
  return {finding.kind, finding.heap, finding.device, std::string(libraryName(finding.closed_library)), key};
}

template <class FileOf> std::set<FindingKey> keysOf(const std::vector<Finding> &findings, FileOf fileOf) {
  std::set<FindingKey> keys;
  for (const Finding &finding : findings)
    keys.insert(keyOf(finding, fileOf(finding.site.file)));
  return keys;
}

// Whether the finding comes from samples of the page tables. Not every run samples a block that is freed soon.
bool isSampled(const Finding &finding) {
  using namespace finding_kinds;
  constexpr std::string_view kKinds[] = {kEarlyAllocation.name, kLateFree.name, kUnused.name,
                                         kOverallocated.name,   kCapacity.name, kIdle.name};
  return finding.heap == abi::Heap::Host && std::ranges::find(kKinds, finding.kind) != std::end(kKinds);
}

// The file, the function and the variable of a place.
using PurposeKey = std::tuple<std::string, std::string, std::string>;

// Returns the places with the same blocks in both runs.
std::set<PurposeKey> unchangedPlaces(const ComparedMemory &memory) {
  std::set<PurposeKey> unchanged;
  for (const ComparedPlace &place : memory.places)
    if (place.state == PlaceState::Same || place.state == PlaceState::Moved)
      unchanged.emplace(place.site.file, place.site.function, place.variable);
  return unchanged;
}

std::vector<FindingChange> compareFindings(const Report &first, const Report &second, const Relocation &relocation,
                                           const ComparedMemory &alive) {
  const auto relocated = [&](const std::string &file) { return relocation.of(file); };
  const auto asItIs = [](const std::string &file) { return file; };
  const std::set<PurposeKey> unchanged = unchangedPlaces(alive);
  const auto isNoise = [&](const Finding &finding, const std::string &file) {
    const std::string &variable = finding.site.variable.empty() ? finding.allocator.variable : finding.site.variable;
    return isSampled(finding) && unchanged.contains({file, finding.site.function, variable});
  };
  std::vector<FindingChange> changes;
  // A finding `peak` only says that a place has many bytes. The list of places says this better.
  const auto add = [&](const Finding &finding, const std::set<FindingKey> &others, const std::string &file,
                       PlaceState state) {
    const bool is_compared = !isOf(finding, finding_kinds::kPeak) && !isNoise(finding, file);
    if (is_compared && !others.contains(keyOf(finding, file)))
      changes.push_back({finding, state});
  };
  const std::set<FindingKey> before = keysOf(first.findings, relocated), after = keysOf(second.findings, asItIs);
  for (const Finding &finding : second.findings)
    add(finding, before, finding.site.file, PlaceState::New);
  for (const Finding &finding : first.findings)
    add(finding, after, relocated(finding.site.file), PlaceState::Gone);
  return changes;
}

} // namespace

const char *nameOf(PlaceState state) {
  constexpr const char *kNames[] = {"same", "grown", "shrunk", "new", "gone", "moved", "varies"};
  static_assert(std::size(kNames) == kPlaceStates);
  return kNames[static_cast<size_t>(state)];
}

int64_t changeBeyond(uint64_t spread_bytes, uint64_t before, uint64_t after) {
  const int64_t change = difference(before, after);
  return sizeOf(change) > spread_bytes ? change : 0;
}

std::string changeText(int64_t change_bytes) {
  return fmt::format("{}{}", change_bytes < 0 ? '-' : '+', bytesText(sizeOf(change_bytes)));
}

SiteText ComparedPlace::wholeSite() const {
  SiteText whole = site;
  if (whole.variable.empty())
    whole.variable = variable;
  if (whole.type.empty())
    whole.type = type;
  return whole;
}

int64_t ComparedPlace::changeBytes() const {
  return state == PlaceState::Varies ? 0 : difference(before ? before->bytes : 0, after ? after->bytes : 0);
}

int64_t ComparedMemory::changeBytes() const { return changeBeyond(spread_bytes, before_bytes, after_bytes); }

bool ComparedMemory::differs() const {
  return changeBytes() != 0 || std::any_of(places.begin(), places.end(), [](const ComparedPlace &place) {
           return place.state != PlaceState::Same && place.state != PlaceState::Moved &&
                  place.state != PlaceState::Varies;
         });
}

bool RunComparison::differs() const {
  return changeBeyond(peak_spread_bytes, peak_before_bytes, peak_after_bytes) != 0 || alive.differs() ||
         leaks.differs() || pool_leaks.differs() || (launches && !launches->differing.empty());
}

RunComparison compareRuns(const Report &first, const Report &second, StateAt at) {
  RunComparison comparison;
  comparison.first = first.run;
  comparison.second = second.run;
  comparison.environment = compareEnvironments(first, second);
  comparison.peak_before_bytes = first.peak.bytes;
  comparison.peak_after_bytes = second.peak.bytes;
  const Side before = sideAt(first, at), after = sideAt(second, at);
  const Side leaks_before = sideOf(first.leaks.by_site), leaks_after = sideOf(second.leaks.by_site);
  const std::vector<SiteLine> allocated_first = allocatedBy(first), allocated_second = allocatedBy(second);
  const Side allocated_before = sideOf(allocated_first), allocated_after = sideOf(allocated_second);
  const Relocation relocation({before.figures, leaks_before.figures, allocated_before.figures},
                              {after.figures, leaks_after.figures, allocated_after.figures});
  comparison.alive = compareMemory(before, after, {bytesAt(first, at), bytesAt(second, at)}, relocation);
  comparison.leaks =
      compareMemory(leaks_before, leaks_after, {first.leaks.sum.bytes, second.leaks.sum.bytes}, relocation);
  comparison.pool_leaks = compareMemory(sideOf(first.leaks.pool_by_site), sideOf(second.leaks.pool_by_site),
                                        {first.leaks.pool_sum.bytes, second.leaks.pool_sum.bytes}, relocation);
  comparison.allocated = compareMemory(allocated_before, allocated_after,
                                       {bytesOf(allocated_before), bytesOf(allocated_after)}, relocation);
  comparison.findings = compareFindings(first, second, relocation, comparison.alive);
  return comparison;
}

} // namespace msleaks::analysis::inline compare
