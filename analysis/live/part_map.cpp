#include "analysis/live/part_map.h"

#include <algorithm>

namespace msleaks::analysis::inline live {

uint64_t largestHole(const PartMap::Parts &parts, uint64_t begin, uint64_t bytes) {
  uint64_t largest = 0, until = 0; // end of the parts so far, from the segment's start
  for (const auto &[address, part] : parts) {
    const uint64_t at = std::min(address - begin, bytes);
    largest = std::max(largest, at > until ? at - until : 0);
    until = std::max(until, at + std::min(part.bytes, bytes - at));
  }
  return std::max(largest, bytes - until);
}

} // namespace msleaks::analysis::inline live
