// Sums of events by place: the inner loop of reading a perf.data. Places are numbered in the order in which they came.
// A place and its sums lie side by side, so that a sample costs two misses of the cache and not three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::profiles {

class PlaceSums {
public:
  explicit PlaceSums(size_t events) : width_(1 + events) {}

  void add(uint64_t place, size_t event, uint64_t period) { cells_[rowOf(place) * width_ + 1 + event] += period; }

  size_t size() const { return rows_; }
  uint64_t placeOf(size_t row) const { return cells_[row * width_]; }
  uint64_t sumOf(size_t row, size_t event) const { return cells_[row * width_ + 1 + event]; }

private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr size_t kFirstSlots = 64;

  // Fibonacci hashing: the upper bits of the product depend on all of the place.
  size_t slotOf(uint64_t place) const { return (place * 0x9e3779b97f4a7c15 >> 32) & (slots_.size() - 1); }

  size_t rowOf(uint64_t place) {
    if (rows_ * 2 >= slots_.size())
      grow();
    size_t slot = slotOf(place);
    for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1))
      if (placeOf(slots_[slot]) == place)
        return slots_[slot];
    slots_[slot] = static_cast<uint32_t>(rows_);
    cells_.resize(cells_.size() + width_);
    cells_[rows_ * width_] = place;
    return rows_++;
  }

  void grow() {
    slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 2, kFree);
    for (size_t row = 0; row < rows_; ++row) {
      size_t slot = slotOf(placeOf(row));
      while (slots_[slot] != kFree)
        slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<uint32_t>(row);
    }
  }

  size_t width_, rows_ = 0;
  std::vector<uint32_t> slots_; // rows; a power of two of them, at most half of them taken
  std::vector<uint64_t> cells_; // by row: the place, and a sum for each event
};

} // namespace msleaks::analysis::profiles
