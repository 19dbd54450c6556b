// The paths to blocks as one tree, from the outermost call to the allocator's caller. A flame graph shows it.
#pragma once

#include "analysis/page/frame_table.h"
#include "analysis/result/result.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline page {

class FlameTree {
public:
  explicit FlameTree(FrameTable &frames) : frames_(frames) {}
  // Adds the blocks of the line. Blocks of paths that the line leaves out have only the line's place.
  void add(const SiteLine &);
  // Returns the bytes and blocks in all, and the root: [number of the call, bytes, blocks, [calls below it]]. Calls
  // with less than a part of all bytes are one call with the number -1, so each call's sum is right.
  Json json() const;

private:
  struct Call {
    uint32_t frame = 0;
    uint64_t bytes = 0, count = 0;
    std::vector<uint32_t> below = {};
  };
  void addPath(const std::vector<uint32_t> &from_innermost, uint64_t bytes, uint64_t count);
  uint32_t below(uint32_t call, uint32_t frame);
  Json jsonOf(uint32_t call, uint64_t least_bytes) const;

  FrameTable &frames_;
  std::vector<Call> calls_{1};                               // the first is the root
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> number_; // by the call above and the frame
};

} // namespace msleaks::analysis::inline page
