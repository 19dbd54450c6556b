// Places that were met, numbered in the order in which they came: the inner loop of reading a perf.data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::profiles {

class RowTable {
public:
  // The number of a place; a new one gets the next.
  uint32_t rowOf(uint64_t place) {
    if (places_.size() * 2 >= slots_.size())
      grow();
    size_t slot = slotOf(place);
    while (slots_[slot] != kFree) {
      if (places_[slots_[slot]] == place)
        return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = static_cast<uint32_t>(places_.size());
    places_.push_back(place);
    return slots_[slot];
  }

  // By row.
  const std::vector<uint64_t> &places() const { return places_; }

private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr size_t kFirstSlots = 64;

  // Fibonacci hashing: the upper bits of the product depend on all of the place.
  size_t slotOf(uint64_t place) const { return (place * 0x9e3779b97f4a7c15 >> 32) & (slots_.size() - 1); }

  void grow() {
    slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 2, kFree);
    for (uint32_t row = 0; row < places_.size(); ++row) {
      size_t slot = slotOf(places_[row]);
      while (slots_[slot] != kFree)
        slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = row;
    }
  }

  std::vector<uint32_t> slots_; // rows; a power of two of them, at most half of them taken
  std::vector<uint64_t> places_;
};

} // namespace msleaks::analysis::profiles
