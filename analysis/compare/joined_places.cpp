#include "analysis/compare/joined_places.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostCandidates = 64; // limit; more places with one variable and type are generated code

using JoinKey = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
JoinKey keyOf(const PlaceFigures &place) { return {place.variable, place.type, place.heap, place.child}; }

bool mayBeJoined(const PlaceFigures &place) { return place.own && !(place.variable.empty() && place.type.empty()); }

std::set<std::string_view> functionsAround(const SameLines &lines) {
  std::set<std::string_view> functions;
  for (const SiteLine *line : lines)
    for (const PathLine &path : line->paths)
      for (const auto &call : path.calls) {
        functions.insert(call->function);
        for (const FrameText &inlined : call->inlined_at)
          functions.insert(inlined.function);
      }
  return functions;
}

// Finds each place of `ones` that has the same blocks as several places of `others` together, and calls f(one,
// several). Removes these places from both lists.
template <class F>
void findJoined(const Side &one_side, std::vector<size_t> &ones, const Side &other_side, std::vector<size_t> &others,
                F f) {
  std::map<JoinKey, std::vector<size_t>> by_key;
  for (const size_t index : others)
    if (mayBeJoined(other_side.figures[index]))
      by_key[keyOf(other_side.figures[index])].push_back(index);
  std::erase_if(ones, [&](size_t index) {
    const PlaceFigures &one = one_side.figures[index];
    const auto candidates = by_key.find(keyOf(one));
    if (!mayBeJoined(one) || candidates == by_key.end() || candidates->second.size() > kMostCandidates)
      return false;
    const std::set<std::string_view> around = functionsAround(one_side.lines[index]);
    std::vector<size_t> several;
    uint64_t bytes = 0, count = 0;
    for (const size_t other : candidates->second)
      if (const PlaceFigures &place = other_side.figures[other]; around.contains(place.function)) {
        several.push_back(other);
        bytes += place.bytes;
        count += place.count;
      }
    if (several.empty() || bytes != one.bytes || count != one.count)
      return false;
    const std::set<size_t> joined(several.begin(), several.end());
    for (std::vector<size_t> *list : {&candidates->second, &others})
      std::erase_if(*list, [&](size_t other) { return joined.contains(other); });
    f(index, std::move(several));
    return true;
  });
}

} // namespace

std::vector<std::vector<size_t>> joinPlaces(const Side &before, const Side &now, SamePlaces &same) {
  std::vector<std::vector<size_t>> joined;
  findJoined(now, same.fresh, before, same.gone,
             [&](size_t one, const std::vector<size_t> &) { joined.push_back({one}); });
  findJoined(before, same.gone, now, same.fresh,
             [&](size_t, std::vector<size_t> several) { joined.push_back(std::move(several)); });
  return joined;
}

} // namespace msleaks::analysis::inline compare
