// The segments of pools, from which pools allocate smaller blocks. An observer of blocks
// stores its own data for each segment here.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/live_set.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

// Its memory grows with the live blocks of pools and with their segments. A pointer is valid until the next call.
template <class Content> class Segments {
public:
  struct Segment {
    Block block;
    Content content;
  };

  // A part of the segment `whole` was allocated.
  Segment &add(const Block &part, const Block &whole) {
    Numbered &of = segments_[whole.id.index];
    if (of.number == 0 || of.ended || !isSame(of.segment.block, whole))
      of = {{whole, {}}, ++last_number_, false};
    elementAt(parts_, part.id.index) = {whole.id.index, of.number};
    return of.segment;
  }
  // The segment of a part, or null if it is not known.
  Segment *of(const Block &part) {
    const Part at = valueAt(parts_, part.id.index);
    const auto found = at.number == 0 ? segments_.end() : segments_.find(at.segment);
    return found != segments_.end() && found->second.number == at.number ? &found->second.segment : nullptr;
  }
  // The same for a part that was freed; forgets the part.
  Segment *takePart(const Block &part) {
    Segment *segment = of(part);
    if (part.id.index < parts_.size())
      parts_[part.id.index] = {};
    return segment;
  }
  // The segment that consists of this block, or null.
  Segment *find(const Block &block) {
    if (segments_.empty())
      return nullptr;
    const auto found = segments_.find(block.id.index);
    return found != segments_.end() && !found->second.ended && isSame(found->second.segment.block, block)
               ? &found->second.segment
               : nullptr;
  }
  void erase(const Block &whole) { segments_.erase(whole.id.index); }
  // The segment's process has ended. Parts that end later still find the segment.
  void end(const Block &whole) { segments_.at(whole.id.index).ended = true; }
  template <class F> void forEach(F &&f) {
    for (auto &[id, of] : segments_)
      if (!of.ended)
        f(of.segment);
  }

private:
  // Whether it is the same block, and not a later one with the same number.
  static bool isSame(const Block &a, const Block &b) {
    return a.address == b.address && a.time_ns == b.time_ns && a.process == b.process;
  }

  struct Numbered {
    Segment segment;
    uint64_t number = 0; // unlike numbers of blocks, these are never given again
    bool ended = false;
  };
  struct Part {
    uint32_t segment = 0; // BlockId::index
    uint64_t number = 0;
  };

  std::unordered_map<uint32_t, Numbered> segments_; // by BlockId::index
  std::vector<Part> parts_;                         // by BlockId::index
  uint64_t last_number_ = 0;
};

} // namespace msleaks::analysis::inline live
