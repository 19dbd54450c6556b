// The samples of a perf.data, summed up by place in an image. Records of several processors come as their buffers were
// emptied. They are put in order of time by the rounds that perf marks, so that a sample meets the images that were
// mapped at its time.
#pragma once

#include "analysis/counts/perf_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

// Sums of events by place: the inner loop of reading a perf.data. Places are numbered in the order in which they came.
// A place and its sums lie side by side, so that a sample costs two misses of the cache and not three.
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

struct SampledImage {
  std::string path;                // or what perf calls it: "[vdso]", "//anon"; empty: no image was known there
  std::vector<std::byte> build_id; // empty: not known
  bool kernel = false;
  PlaceSums sums; // of periods, by offset in the file; in the kernel and where nothing was known, by address
};

struct PerfSamples {
  std::vector<SampledImage> images; // those that have samples, and others
  std::vector<uint64_t> totals;     // by event
  uint64_t samples = 0, lost = 0, unknown_events = 0;
};

// Memory grows with places in code and with what one round of perf has, not with the file.
Result<PerfSamples> readPerfSamples(const InputFile &, const PerfFile &);

} // namespace msleaks::analysis::profiles
