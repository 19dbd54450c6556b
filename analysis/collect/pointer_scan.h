// Picks the words out of memory that may be pointers to blocks.
#pragma once

#include "analysis/trace/pointers.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis {

class PointerScan {
public:
  // Where a pointer to a block can point to; by address.
  explicit PointerScan(std::span<const MemoryRegion> targets) {
    for (const MemoryRegion &target : targets)
      if (!ranges_.empty() && ranges_.back().end == target.begin)
        ranges_.back().end = target.end;
      else
        ranges_.push_back({target.begin, target.end});
    if (ranges_.empty())
      return;
    first_ = ranges_.front().begin;
    bytes_ = ranges_.back().end - first_;
    last_ = ranges_.front();
  }

  // Calls f(pointer) for each word that points into a range, whatever its tag is; `words` were read from `begin`, a
  // multiple of 8.
  template <class F> void scan(uint64_t begin, std::span<const uint64_t> words, F &&f) {
    for (size_t i = 0; i < words.size(); ++i)
      if (const uint64_t address = addressOf(words[i]); address - first_ < bytes_ && isTarget(address)) // few do
        f(Pointer{begin + i * sizeof(uint64_t), words[i]});
  }

private:
  struct Range {
    uint64_t begin, end;
  };

  bool isTarget(uint64_t address) {
    if (address - last_.begin < last_.end - last_.begin)
      return true;
    const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                         [](uint64_t at, const Range &range) { return at < range.begin; });
    if (behind == ranges_.begin() || address >= std::prev(behind)->end)
      return false;
    last_ = *std::prev(behind);
    return true;
  }

  std::vector<Range> ranges_;
  uint64_t first_ = 0, bytes_ = 0;
  Range last_{0, 0}; // that was hit: neighbours point to neighbours
};

} // namespace msleaks::analysis
