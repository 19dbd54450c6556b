#include "analysis/compare/same_places.h"

#include "analysis/compare/renamed_functions.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace msleaks::analysis::inline compare {
namespace {

using View = std::string_view;

// A key for places whose blocks have the same paths. The optimizer decides which function of a path is the place. For
// example, a function that was inlined into its caller may count as a wrapper. In a build without optimization, it does
// not.
using SameWay = std::tuple<uint64_t, View, View>;
std::optional<SameWay> sameWayOf(const PlaceFigures &place) {
  if (!place.own || place.way == 0)
    return {};
  return SameWay{place.way, place.heap, place.child};
}

// A key with all that tells a place from others, except its line and its purpose.
using SameFunction = std::tuple<bool, View, View, View, View, View>;
std::optional<SameFunction> sameFunctionOf(const PlaceFigures &place, View file) {
  const bool has_file = place.own && !file.empty();
  return SameFunction{place.own, file, place.function, has_file ? View() : place.library, place.heap, place.child};
}

// The blocks of a place. Places with different names count as one place only if they have the same blocks.
using Blocks = std::pair<uint64_t, uint64_t>;
Blocks blocksOf(const PlaceFigures &place) { return {place.bytes, place.count}; }

// A key for the places of a function that moved into another file.
using MovedFunction = std::tuple<View, View, View, Blocks>;
std::optional<MovedFunction> movedFunctionOf(const PlaceFigures &place) {
  if (!place.own || place.function.empty())
    return {};
  return MovedFunction{place.function, place.heap, place.child, blocksOf(place)};
}

// A key for the places of a function with another name. The purpose of the places must be the same, too.
using RenamedFunction = std::tuple<View, View, View, Purpose, Blocks>;
std::optional<RenamedFunction> renamedFunctionOf(const PlaceFigures &place, View file) {
  if (!place.own || file.empty() || purposeOf(place) == Purpose{})
    return {};
  return RenamedFunction{file, place.heap, place.child, purposeOf(place), blocksOf(place)};
}

// Says in which file of `now` each file of `before` is.
class FilesNow {
public:
  FilesNow(std::span<const PlaceFigures> before, const Relocation &relocation) {
    for (const PlaceFigures &place : before)
      if (!files_.contains(place.file))
        files_.emplace(place.file, relocation.of(place.file));
  }
  View of(const PlaceFigures &place) const { return files_.find(place.file)->second; }

  // Corrects the files by the pairs found so far, because most functions of a file may be in another file now.
  void learn(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now, const SamePlaces &found) {
    std::map<View, std::map<View, size_t>> votes;
    for (const auto &[old_index, new_index] : found.pairs)
      ++votes[before[old_index].file][now[new_index].file];
    for (const auto &[file, into] : votes)
      files_[file] = std::max_element(into.begin(), into.end(), [](const auto &a, const auto &b) {
                       return a.second < b.second;
                     })->first;
  }

private:
  std::unordered_map<View, std::string> files_;
};

// The functions with places, and their files.
using Functions = std::unordered_set<std::pair<View, View>, KeyHash>;

struct TwoRuns {
  std::span<const PlaceFigures> before, now;
  FilesNow files;
  Functions old_functions, new_functions; // with the names of files in `now`

  void findFunctions() {
    for (const PlaceFigures &place : before)
      old_functions.emplace(files.of(place), place.function);
    for (const PlaceFigures &place : now)
      new_functions.emplace(place.file, place.function);
  }
};

FunctionKey functionOf(View file, const PlaceFigures &place) { return {std::string(file), place.function}; }

// Returns for functions of `before` the function of `now` that each became. The places without a partner and the pairs
// found so far show this.
std::map<FunctionKey, FunctionKey> findRenamed(const TwoRuns &runs, const SamePlaces &found) {
  FunctionPurposes gone, fresh;
  const auto add = [](const PlaceFigures &place, View file, const Functions &others, FunctionPurposes &to) {
    if (place.own && !file.empty() && !place.function.empty() && !others.contains({file, place.function}))
      to[functionOf(file, place)].emplace(place.variable, place.type, place.callee);
  };
  for (const size_t index : found.gone)
    add(runs.before[index], runs.files.of(runs.before[index]), runs.new_functions, gone);
  for (const size_t index : found.fresh)
    add(runs.now[index], runs.now[index].file, runs.old_functions, fresh);
  FunctionVotes votes;
  for (const auto &[old_index, new_index] : found.pairs)
    if (const PlaceFigures &a = runs.before[old_index], &b = runs.now[new_index]; a.own && a.function != b.function)
      ++votes[{functionOf(runs.files.of(a), a), functionOf(b.file, b)}];
  std::set<std::string> new_files;
  for (const PlaceFigures &place : runs.now)
    new_files.insert(place.file);
  for (const PlaceFigures &place : runs.before)
    new_files.erase(std::string(runs.files.of(place)));
  return renamedFunctions(gone, fresh, votes, new_files);
}

// Pairs places of functions that were renamed or moved, even if their blocks differ.
void pairRenamed(PlacePairing &pairing, const TwoRuns &runs) {
  const std::map<FunctionKey, FunctionKey> renamed = findRenamed(runs, pairing.found());
  std::set<FunctionKey> into;
  for (const auto &[from, to] : renamed)
    into.insert(to);
  using Key = std::tuple<View, View, View, View>;
  const auto keyOf = [](const FunctionKey &function, const PlaceFigures &place) {
    return std::optional(Key{function.first, function.second, place.heap, place.child});
  };
  pairing.pairBy(
      [&](const PlaceFigures &place) {
        const auto at = renamed.find(functionOf(runs.files.of(place), place));
        return place.own && at != renamed.end() ? keyOf(at->second, place) : std::nullopt;
      },
      [&](const PlaceFigures &place) {
        const auto at = into.find(functionOf(place.file, place));
        return place.own && at != into.end() ? keyOf(*at, place) : std::nullopt;
      });
}

} // namespace

SamePlaces samePlaces(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now,
                      const Relocation &relocation) {
  TwoRuns runs{before, now, FilesNow(before, relocation), {}, {}};
  const FilesNow &files = runs.files;
  PlacePairing pairing(before, now);
  pairing.pairBy(sameWayOf, sameWayOf);
  pairing.pairBy([&](const PlaceFigures &place) { return sameFunctionOf(place, files.of(place)); },
                 [](const PlaceFigures &place) { return sameFunctionOf(place, place.file); });
  pairing.pairBy(movedFunctionOf, movedFunctionOf);
  if (pairing.found().gone.empty() || pairing.found().fresh.empty())
    return pairing.take();
  runs.files.learn(before, now, pairing.found());
  runs.findFunctions();
  pairing.pairBy(
      [&](const PlaceFigures &place) {
        const View file = files.of(place);
        return runs.new_functions.contains({file, place.function}) ? std::nullopt : renamedFunctionOf(place, file);
      },
      [&](const PlaceFigures &place) {
        return runs.old_functions.contains({place.file, place.function}) ? std::nullopt
                                                                         : renamedFunctionOf(place, place.file);
      });
  pairRenamed(pairing, runs);
  return pairing.take();
}

} // namespace msleaks::analysis::inline compare
