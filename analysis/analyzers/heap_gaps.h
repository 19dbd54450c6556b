// The pages of the C library's heap that contain no part of a live block. malloc_trim(0) gives such pages back to the
// kernel.
#pragma once

#include "analysis/live/live_set.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// A part of the heap, and how much of it was resident at a look.
struct HeapPartLook {
  uint64_t begin = 0, end = 0, resident_bytes = 0;
  bool is_main = false;
};

class HeapGaps {
public:
  // Sums over the parts, in bytes.
  struct Sums {
    uint64_t resident = 0;
    uint64_t main = 0, others = 0; // resident pages without a live block, of the main arena and of the others
    uint64_t main_end = 0;         // those after the last live block of the main arena
    uint64_t unused = 0;           // resident memory without a live block, also in pages with other blocks
  };

  HeapGaps(std::vector<HeapPartLook> parts, unsigned page_shift);
  // Adds a live block. It may be outside of the heap.
  void add(const Block &);
  Sums sums() const;
  // Calls f(frame, bytes) for each frame of 1 << frame_shift bytes with its bytes in pages without a live block.
  template <class F> void forEachFrame(unsigned frame_shift, F &&f) const {
    uint64_t frame = 0, bytes = 0;
    const auto next = [&](uint64_t at) {
      if (at != frame && bytes != 0)
        f(frame, bytes);
      bytes = at == frame ? bytes : 0;
      frame = at;
    };
    for (const Part &part : parts_)
      for (uint64_t page = 0; page < part.pages; ++page) {
        next((part.look.begin + (page << page_shift_)) >> frame_shift);
        bytes += uint64_t{!used_[part.first_page + page]} << page_shift_;
      }
    next(frame + 1);
  }

private:
  struct Part {
    HeapPartLook look;
    uint64_t first_page = 0, pages = 0; // in used_
    uint64_t block_bytes = 0;           // of live blocks
  };

  unsigned page_shift_;
  std::vector<Part> parts_; // by address
  std::vector<bool> used_;  // by page of all parts
};

} // namespace msleaks::analysis::inline analyzers
