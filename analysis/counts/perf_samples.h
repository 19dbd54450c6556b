// Adds up the samples of a perf.data by their place in an image. perf writes the buffer of each processor at another
// time, so records are not in order of time. perf marks the ends of rounds. With these marks, records are put in order,
// so that each sample meets the images that were mapped at its time.
#pragma once

#include "analysis/counts/perf_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

// Sums of events by place. Reading a perf.data spends most of its time here. Places are numbered in the order of their
// first samples. Each place and its sums lie side by side, so that a sample causes two cache misses instead of three.
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

  // This is Fibonacci hashing: all bits of the place change the upper bits of the product.
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
  std::vector<uint32_t> slots_; // numbers of rows; the size is a power of two, and at most half of the slots are used
  std::vector<uint64_t> cells_; // each row: the place, and a sum for each event
};

struct SampledImage {
  std::string path;                // the file's path or perf's name: "[vdso]", "//anon"; empty: no known image
  std::vector<std::byte> build_id; // empty: no build id is known
  bool kernel = false;
  PlaceSums sums; // sums of periods by offset in the file; for the kernel and unknown images, by address
};

struct PerfSamples {
  std::vector<SampledImage> images; // also images without samples
  std::vector<uint64_t> totals;     // by event: sum of all periods
  uint64_t samples = 0, lost = 0, unknown_events = 0;
};

// The need for memory grows with the number of places in code and with the records of one round, not with the file.
Result<PerfSamples> readPerfSamples(const InputFile &, const PerfFile &);

} // namespace msleaks::analysis::profiles
