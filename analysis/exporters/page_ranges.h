// The pages that have ever contained blocks, as ranges without gaps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace msleaks::analysis::inline exporters {

class PageRanges {
public:
  void add(uint64_t address, uint64_t bytes) {
    uint64_t begin = address & ~kPageMask, end = (address + bytes + kPageMask) & ~kPageMask;
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second >= end)
        return;
      if (before->second >= begin)
        begin = before->first;
    }
    for (next = ranges_.lower_bound(begin); next != ranges_.end() && next->first <= end; next = ranges_.erase(next))
      end = std::max(end, next->second);
    ranges_[begin] = end;
  }
  const std::map<uint64_t, uint64_t> &ranges() const { return ranges_; } // end by begin

private:
  static constexpr uint64_t kPageMask = 4095;
  std::map<uint64_t, uint64_t> ranges_;
};

} // namespace msleaks::analysis::inline exporters
