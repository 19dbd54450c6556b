#include "analysis/compare/repeated_runs.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline compare {
namespace {

using NamedPlace = std::tuple<std::string, uint32_t, uint32_t, std::string, std::string, std::string>;
NamedPlace namedPlaceOf(const ComparedPlace &place) {
  const SiteText &site = place.site;
  return {site.file, site.line, site.column, site.library, site.function, place.variable};
}

// The parts of a comparison for which several runs show the noise.
constexpr ComparedMemory RunComparison::*kMemories[] = {&RunComparison::alive, &RunComparison::leaks,
                                                        &RunComparison::pool_leaks, &RunComparison::allocated};

// The blocks that the places of a reference run have in another run.
class PlacesElsewhere {
public:
  PlacesElsewhere(const Report &run, const Report &reference, StateAt at)
      : comparison_(compareRuns(run, reference, at)) {
    for (size_t i = 0; i < std::size(kMemories); ++i)
      for (const ComparedPlace &place : (comparison_.*kMemories[i]).places)
        if (place.state != PlaceState::Gone) {
          sums_[i][namedPlaceOf(place)] += place.before.value_or(BlockSum{});
        }
  }
  BlockSum blocksOf(size_t memory, const ComparedPlace &place) const {
    const auto at = sums_[memory].find(namedPlaceOf(place));
    return at == sums_[memory].end() ? BlockSum{} : at->second;
  }
  uint64_t bytesOf(size_t memory) const { return (comparison_.*kMemories[memory]).before_bytes; }

private:
  RunComparison comparison_;
  std::map<NamedPlace, BlockSum> sums_[std::size(kMemories)];
};

// The values of one figure in the runs of one side.
class Figures {
public:
  void add(uint64_t figure) { figures_.push_back(figure); }
  uint64_t spread() const {
    const auto [least, most] = std::minmax_element(figures_.begin(), figures_.end());
    return *most - *least;
  }
  uint64_t mean() const {
    // Adds quotients and rests separately, so that the sum of large figures does not overflow.
    const uint64_t count = figures_.size();
    uint64_t mean = 0, rest = 0;
    for (const uint64_t figure : figures_) {
      mean += figure / count;
      rest += figure % count;
    }
    return mean + (rest + count / 2) / count;
  }

private:
  std::vector<uint64_t> figures_;
};

uint64_t spreadOf(const Figures &before, const Figures &after) { return std::max(before.spread(), after.spread()); }

class Repetition {
public:
  Repetition(std::span<const Report> first, std::span<const Report> second, StateAt at)
      : first_(first), second_(second), at_(at), base_(compareRuns(first[0], second[0], at)) {
    for (const Report &run : first)
      elsewhere(run, first_in_second_, first_in_first_);
    for (const Report &run : second)
      elsewhere(run, second_in_second_, second_in_first_);
  }

  RunComparison take() {
    base_.first_runs = first_.size();
    base_.second_runs = second_.size();
    takePeak();
    for (size_t i = 0; i < std::size(kMemories); ++i)
      takeMemory(i);
    keepCommon();
    return std::move(base_);
  }

private:
  void elsewhere(const Report &run, std::vector<PlacesElsewhere> &in_second, std::vector<PlacesElsewhere> &in_first) {
    in_second.emplace_back(run, second_[0], at_);
    in_first.emplace_back(run, first_[0], at_);
  }

  void takePeak() {
    Figures before, after;
    for (const Report &run : first_)
      before.add(run.peak.bytes);
    for (const Report &run : second_)
      after.add(run.peak.bytes);
    base_.peak_before_bytes = before.mean();
    base_.peak_after_bytes = after.mean();
    base_.peak_spread_bytes = spreadOf(before, after);
  }

  void takeMemory(size_t number) {
    ComparedMemory &memory = base_.*kMemories[number];
    Figures before, after;
    for (const PlacesElsewhere &run : first_in_second_)
      before.add(run.bytesOf(number));
    for (const PlacesElsewhere &run : second_in_second_)
      after.add(run.bytesOf(number));
    memory.before_bytes = before.mean();
    memory.after_bytes = after.mean();
    memory.spread_bytes = spreadOf(before, after);
    keepOneOfEachName(memory.places);
    for (ComparedPlace &place : memory.places)
      takePlace(number, place);
    std::stable_sort(memory.places.begin(), memory.places.end(), [](const ComparedPlace &a, const ComparedPlace &b) {
      return sizeOf(a.changeBytes()) > sizeOf(b.changeBytes());
    });
  }

  // Keeps one place of each name, because its figures are the sum over all places with this name, for example in all
  // heaps.
  static void keepOneOfEachName(std::vector<ComparedPlace> &places) {
    std::set<std::pair<bool, NamedPlace>> seen;
    std::erase_if(places, [&](const ComparedPlace &place) {
      return !seen.emplace(place.state == PlaceState::Gone, namedPlaceOf(place)).second;
    });
  }

  // Computes the figures of a place. Its name is the name in the second side, or the name in the first side if the
  // place is gone.
  void takePlace(size_t memory, ComparedPlace &place) {
    const bool is_gone = place.state == PlaceState::Gone;
    Figures bytes_before, bytes_after, count_before, count_after;
    const auto add = [&](const std::vector<PlacesElsewhere> &runs, Figures &bytes, Figures &count) {
      for (const PlacesElsewhere &run : runs) {
        const BlockSum blocks = run.blocksOf(memory, place);
        bytes.add(blocks.bytes);
        count.add(blocks.count);
      }
    };
    add(is_gone ? first_in_first_ : first_in_second_, bytes_before, count_before);
    add(is_gone ? second_in_first_ : second_in_second_, bytes_after, count_after);
    const auto meanOf = [](const Figures &bytes, const Figures &count) -> std::optional<BlockSum> {
      const BlockSum mean{bytes.mean(), count.mean()};
      return mean.bytes == 0 && mean.count == 0 ? std::nullopt : std::optional(mean);
    };
    place.before = meanOf(bytes_before, count_before);
    place.after = meanOf(bytes_after, count_after);
    place.spread_bytes = spreadOf(bytes_before, bytes_after);
    place.state = stateOf(place, spreadOf(count_before, count_after));
  }

  static PlaceState stateOf(const ComparedPlace &place, uint64_t spread_count) {
    const BlockSum before = place.before.value_or(BlockSum{}), after = place.after.value_or(BlockSum{});
    const auto varies = [](uint64_t a, uint64_t b, uint64_t spread) {
      return spread != 0 && changeBeyond(spread, a, b) == 0;
    };
    if (varies(before.bytes, after.bytes, place.spread_bytes) ||
        (before.bytes == after.bytes && varies(before.count, after.count, spread_count)))
      return PlaceState::Varies;
    if (!place.before)
      return place.after ? PlaceState::New : place.state;
    if (!place.after)
      return PlaceState::Gone;
    if (before.bytes != after.bytes)
      return after.bytes > before.bytes ? PlaceState::Grown : PlaceState::Shrunk;
    if (before.count != after.count)
      return after.count > before.count ? PlaceState::Grown : PlaceState::Shrunk;
    return place.state == PlaceState::Moved ? PlaceState::Moved : PlaceState::Same;
  }

  // Keeps only the facts and findings that differ in each pair of runs.
  void keepCommon() {
    using NamedFinding = std::tuple<PlaceState, std::string, std::string, std::string>;
    const auto nameOf = [](const FindingChange &change) {
      const SiteText &site = change.finding.site;
      return NamedFinding{change.state, change.finding.kind,
                          std::string(baseName(site.file.empty() ? site.library : site.file)), site.function};
    };
    for (const Report &before : first_)
      for (const Report &after : second_) {
        const RunComparison other = compareRuns(before, after, at_);
        std::set<std::string> facts;
        std::set<NamedFinding> findings;
        for (const EnvironmentChange &change : other.environment)
          facts.insert(change.name);
        for (const FindingChange &change : other.findings)
          findings.insert(nameOf(change));
        std::erase_if(base_.environment, [&](const EnvironmentChange &change) { return !facts.contains(change.name); });
        std::erase_if(base_.findings, [&](const FindingChange &change) { return !findings.contains(nameOf(change)); });
      }
  }

  std::span<const Report> first_, second_;
  StateAt at_;
  RunComparison base_;                                              // comparison of the first run of each side
  std::vector<PlacesElsewhere> first_in_second_, first_in_first_;   // runs of the first side, places of either side
  std::vector<PlacesElsewhere> second_in_second_, second_in_first_; // the same for runs of the second side
};

} // namespace

RunComparison compareRepeatedRuns(std::span<const Report> first, std::span<const Report> second, StateAt at) {
  if (first.size() == 1 && second.size() == 1)
    return compareRuns(first[0], second[0], at);
  return Repetition(first, second, at).take();
}

} // namespace msleaks::analysis::inline compare
