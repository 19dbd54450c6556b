#include "analysis/compare/place_pairing.h"

#include "analysis/places/function_name.h"

#include <cstdlib>
#include <map>
#include <string>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostTries = 1'000'000;

// A build may not know a name, for example because a function was inlined. So an unknown name fits each name.
bool agree(const std::string &left, const std::string &right) { return left.empty() || right.empty() || left == right; }
// If a type changes its size, the template arguments of types that contain it may change.
bool agreeInType(const PlaceFigures &a, const PlaceFigures &b) {
  return agree(a.type, b.type) || withoutTemplateArguments(a.type) == withoutTemplateArguments(b.type);
}

bool mayBeSame(const PlaceFigures &a, const PlaceFigures &b) {
  return agree(a.variable, b.variable) && agreeInType(a, b) && agree(a.callee, b.callee);
}

// The called functions may differ, because the optimizer may inline the function of a library that the program calls.
bool isLikelySame(const PlaceFigures &a, const PlaceFigures &b) {
  const bool has_same_blocks = a.bytes == b.bytes && a.count == b.count;
  return agree(a.variable, b.variable) && agree(a.type, b.type) &&
         (has_same_blocks || (a.line != 0 && a.line == b.line));
}

// Returns the place's line. If the line is not known, returns the offset in the library.
int64_t positionOf(const PlaceFigures &place) {
  return place.line != 0 ? place.line : static_cast<int64_t>(place.offset);
}

} // namespace

Purpose purposeOf(const PlaceFigures &place) { return {place.variable, place.type, place.callee}; }

PlacePairing::PlacePairing(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now)
    : before_(before), now_(now) {
  for (size_t i = 0; i < before.size(); ++i)
    found_.gone.push_back(i);
  for (size_t i = 0; i < now.size(); ++i)
    found_.fresh.push_back(i);
}

void PlacePairing::sortFound() {
  std::sort(found_.pairs.begin(), found_.pairs.end(), [](auto a, auto b) { return a.second < b.second; });
  std::sort(found_.fresh.begin(), found_.fresh.end());
  std::sort(found_.gone.begin(), found_.gone.end());
}

// Pairs places of equal purpose first, then places about which less is known.
void PlacePairing::pair(Group &group) {
  if (group.before.size() == 1 && group.now.size() == 1) {
    const PlaceFigures &a = before_[group.before.front()], &b = now_[group.now.front()];
    if (mayBeSame(a, b) || isLikelySame(a, b)) {
      found_.pairs.emplace_back(group.before.front(), group.now.front());
      return;
    }
  } else if (!group.before.empty() && !group.now.empty()) {
    pairByPurpose(group);
    pairFirst(group, mayBeSame);
    if (group.before.size() * group.now.size() <= kMostTries)
      pairFirst(group, isLikelySame);
  }
  found_.fresh.insert(found_.fresh.end(), group.now.begin(), group.now.end());
  found_.gone.insert(found_.gone.end(), group.before.begin(), group.before.end());
}

void PlacePairing::pairByPurpose(Group &group) {
  std::map<Purpose, Group> by_purpose;
  for (const size_t index : group.before)
    by_purpose[purposeOf(before_[index])].before.push_back(index);
  for (const size_t index : group.now)
    by_purpose[purposeOf(now_[index])].now.push_back(index);
  group = {};
  for (auto &[purpose, part] : by_purpose) {
    pairByLine(part);
    group.before.insert(group.before.end(), part.before.begin(), part.before.end());
    group.now.insert(group.now.end(), part.now.begin(), part.now.end());
  }
}

// Pairs each place with the first place that `isSame` accepts. Places without a partner stay in the group.
void PlacePairing::pairFirst(Group &group, bool (*isSame)(const PlaceFigures &, const PlaceFigures &)) {
  std::vector<size_t> left;
  for (const size_t index : group.now) {
    const auto same = std::find_if(group.before.begin(), group.before.end(),
                                   [&](size_t other) { return isSame(before_[other], now_[index]); });
    if (same == group.before.end()) {
      left.push_back(index);
      continue;
    }
    found_.pairs.emplace_back(*same, index);
    group.before.erase(same);
  }
  group.now = std::move(left);
}

// Pairs places of equal purpose. If lines were inserted or removed before most of them, pairs places that this moved
// first. Then pairs the others in their order. Places without a partner stay in the group.
void PlacePairing::pairByLine(Group &group) {
  const auto sort = [](std::vector<size_t> &list, std::span<const PlaceFigures> places) {
    std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
      return std::tuple(positionOf(places[a]), places[a].column, a) <
             std::tuple(positionOf(places[b]), places[b].column, b);
    });
  };
  sort(group.before, before_);
  sort(group.now, now_);
  const int64_t shift = shiftOf(group);
  takePairs(group, [&](size_t a, size_t b) { return positionOf(now_[b]) - positionOf(before_[a]) - shift; });
  takePairs(group, [](size_t, size_t) { return 0; });
}

// Returns the number of lines by which most places of the group have moved.
int64_t PlacePairing::shiftOf(const Group &group) const {
  constexpr size_t kNeighbours = 64; // limits the time, because a generated function may have ten thousand places
  std::map<int64_t, size_t> votes;
  for (size_t i = 0; i < group.now.size(); ++i) {
    const size_t first = i > kNeighbours ? i - kNeighbours : 0;
    for (size_t k = first; k < std::min(group.before.size(), i + kNeighbours); ++k)
      ++votes[positionOf(now_[group.now[i]]) - positionOf(before_[group.before[k]])];
  }
  const auto most = std::max_element(votes.begin(), votes.end(), [](const auto &a, const auto &b) {
    return std::tuple(a.second, -std::abs(a.first)) < std::tuple(b.second, -std::abs(b.first));
  });
  return most == votes.end() ? 0 : most->first;
}

// Pairs places whose distance is 0, in their order. If the distance is negative, the place of `now` has no partner. If
// it is positive, the place of `before` has none.
template <class Distance> void PlacePairing::takePairs(Group &group, Distance distance) {
  Group left;
  size_t a = 0, b = 0;
  while (a < group.before.size() && b < group.now.size()) {
    const int64_t apart = distance(group.before[a], group.now[b]);
    if (apart == 0)
      found_.pairs.emplace_back(group.before[a++], group.now[b++]);
    else if (apart < 0)
      left.now.push_back(group.now[b++]);
    else
      left.before.push_back(group.before[a++]);
  }
  left.before.insert(left.before.end(), group.before.begin() + static_cast<ptrdiff_t>(a), group.before.end());
  left.now.insert(left.now.end(), group.now.begin() + static_cast<ptrdiff_t>(b), group.now.end());
  group = std::move(left);
}

} // namespace msleaks::analysis::inline compare
