// A sample of host blocks that are too small for the page tables. Both the collector and the process read how much of
// a sampled block is needed: all bytes outside of the block's longest range of zeros.
#pragma once

#include <cstdint>

namespace msleaks::abi {

// Smaller blocks are not sampled: many objects have that many bytes of members that are 0.
inline constexpr uint64_t kLeastSampledBytes = 512;

// The bits of PagesEvent::at_exit.
inline constexpr uint64_t kPagesLast = 1, kPagesOfSample = 2;
// The event is about a part of the C library's heap, and not about a block. Then `allocated_ns` is the number of parts
// that follow in this look. kPagesOfArena: a part of another arena than the main one. From kPageShiftBit on there is
// the number of bits of an offset in a page.
inline constexpr uint64_t kPagesOfHeap = 4, kPagesOfArena = 8;
// The event is about the changed data of all images.
inline constexpr uint64_t kPagesOfImages = 16;
inline constexpr unsigned kPageShiftBit = 8;

// The longest range of zeros in a block, in words of 8 bytes. The last word may have fewer.
//
// A page that was never touched holds zeros. If a whole page of the block was touched and holds only zeros, the program
// has probably written them, and may need them. So the page counts as needed.
struct ZeroRange {
  uint64_t bytes = 0, longest_bytes = 0; // bytes: of the range that the next zeros continue

  constexpr void addZeros(uint64_t count) noexcept {
    bytes += count;
    longest_bytes = bytes > longest_bytes ? bytes : longest_bytes;
  }
  constexpr void addNeeded() noexcept { bytes = 0; }
  // Adds `size` bytes. The rest of the last word must be 0.
  constexpr void add(const uint64_t *words, uint64_t size) noexcept {
    for (; size > 0; ++words) {
      const uint64_t count = size < sizeof *words ? size : sizeof *words;
      if (*words == 0)
        addZeros(count);
      else
        addNeeded();
      size -= count;
    }
  }
};

} // namespace msleaks::abi
