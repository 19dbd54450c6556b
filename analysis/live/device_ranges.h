// Device addresses that are mapped to physical memory (event Mapped). A range shows a block from an offset on. A handle
// of a part of a buffer (OpenCL) also shows a block. Such a handle is a range of one byte with owners of its own.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace msleaks::analysis::inline live {

// The size of a handle's range (hooks/opencl/images.cpp).
inline constexpr uint64_t kHandleBytes = 1;

struct DeviceRange {
  uint64_t address = 0, size = 0;
  uint64_t block = 0;  // address of the physical block in the table of its device
  uint64_t offset = 0; // where in the block the range begins
  uint8_t device = 0;
  uint32_t owners = 1; // number of owners of a handle

  bool isHandle() const { return size == kHandleBytes; }
  uint64_t end() const { return size < UINT64_MAX - address ? address + size : UINT64_MAX; }
  bool shows(const Block &of) const { return block == of.address && device == of.device; }
};

// A range that was unmapped, and its block. The block has ended with the range, or has one owner less.
struct HiddenRange {
  DeviceRange range;
  bool was_last = false;
  Block block;
};

// The ranges of one process. They do not overlap.
class DeviceRanges {
public:
  bool isEmpty() const { return ranges_.empty(); }
  // The range that contains the byte, or null.
  const DeviceRange *at(uint64_t address) const {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin())
      return nullptr;
    --after;
    return after->second.end() > address ? &after->second : nullptr;
  }
  // The range of this handle, or null.
  DeviceRange *handle(uint64_t address) {
    const auto found = ranges_.find(address);
    return found != ranges_.end() && found->second.isHandle() ? &found->second : nullptr;
  }
  void add(const DeviceRange &range) { ranges_[range.address] = range; }
  bool overlaps(const DeviceRange &range) const {
    const auto behind = ranges_.lower_bound(range.address);
    return at(range.address) || (behind != ranges_.end() && behind->first < range.end());
  }
  // Removes and returns the ranges that begin in [begin, end). A driver unmaps only whole ranges.
  std::vector<DeviceRange> take(uint64_t begin, uint64_t end) {
    const auto first = ranges_.lower_bound(begin), last = ranges_.lower_bound(end);
    std::vector<DeviceRange> taken;
    for (auto range = first; range != last; ++range)
      taken.push_back(range->second);
    ranges_.erase(first, last);
    return taken;
  }
  // The number of ranges that show the block.
  uint32_t count(const Block &block) const {
    return static_cast<uint32_t>(
        std::count_if(ranges_.begin(), ranges_.end(), [&](const auto &range) { return range.second.shows(block); }));
  }
  void forget(const Block &block) {
    std::erase_if(ranges_, [&](const auto &range) { return range.second.shows(block); });
  }
  // From now on, the ranges of this block show the block at another address.
  void move(const Block &block, uint64_t address) {
    for (auto &[begin, range] : ranges_)
      if (range.shows(block))
        range.block = address;
  }
  template <class F> void forEach(F &&f) const {
    for (const auto &[begin, range] : ranges_)
      f(range);
  }

private:
  std::map<uint64_t, DeviceRange> ranges_; // by address
};

} // namespace msleaks::analysis::inline live
