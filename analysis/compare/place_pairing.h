// Pairs the places of two runs by one key after the other. Places that a key has paired are left out for the next key.
#pragma once

#include "analysis/compare/place_figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline compare {

// Indices of places in the lists of the two runs. Each place occurs once, in one of the three lists.
struct SamePlaces {
  std::vector<std::pair<size_t, size_t>> pairs; // index in `before` and in `now`; in the order of `now`
  std::vector<size_t> fresh;                    // places of `now` only
  std::vector<size_t> gone;                     // places of `before` only
};

// The purpose of a place's blocks: variable, type and called function.
using Purpose = std::tuple<std::string_view, std::string_view, std::string_view>;
Purpose purposeOf(const PlaceFigures &);

// A hash of texts, numbers, and tuples and pairs of them.
struct KeyHash {
  template <class T> size_t operator()(const T &value) const {
    if constexpr (requires { std::tuple_size<T>::value; })
      return std::apply([&](const auto &...parts) { return hashOf(parts...); }, value);
    else
      return std::hash<T>()(value);
  }

private:
  template <class... Parts> size_t hashOf(const Parts &...parts) const {
    size_t hash = 0;
    ((hash = hash * 0x9e3779b97f4a7c15 + (*this)(parts)), ...);
    return hash;
  }
};

class PlacePairing {
public:
  PlacePairing(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now);

  // Pairs places that have the same key, which is an optional of texts and numbers. A place without a key stays alone.
  template <class KeyBefore, class KeyNow> void pairBy(KeyBefore keyBefore, KeyNow keyNow) {
    using Key = typename std::invoke_result_t<KeyNow, const PlaceFigures &>::value_type;
    std::unordered_map<Key, Group, KeyHash> groups;
    const std::vector<size_t> gone = std::exchange(found_.gone, {}), fresh = std::exchange(found_.fresh, {});
    for (const size_t index : gone) {
      const auto key = keyBefore(before_[index]);
      (key ? groups[*key].before : found_.gone).push_back(index);
    }
    for (const size_t index : fresh) {
      const auto key = keyNow(now_[index]);
      (key ? groups[*key].now : found_.fresh).push_back(index);
    }
    for (auto &[key, group] : groups)
      pair(group);
    sortFound();
  }

  const SamePlaces &found() const { return found_; }
  SamePlaces take() { return std::move(found_); }

private:
  struct Group {
    std::vector<size_t> before, now;
  };

  void sortFound();
  void pair(Group &);
  void pairByPurpose(Group &);
  void pairFirst(Group &, bool (*isSame)(const PlaceFigures &, const PlaceFigures &));
  void pairByLine(Group &);
  int64_t shiftOf(const Group &) const;
  template <class Distance> void takePairs(Group &, Distance);

  std::span<const PlaceFigures> before_, now_;
  SamePlaces found_;
};

} // namespace msleaks::analysis::inline compare
