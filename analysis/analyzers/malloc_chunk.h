// How glibc's malloc places a block.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace msleaks::analysis::inline analyzers {

// The bytes that a block of this size takes in the heap. A chunk has a header of 8 bytes. Its size is a multiple of 16
// bytes, at least 32.
constexpr uint64_t chunkBytesOf(uint64_t block_bytes) {
  return std::max<uint64_t>((block_bytes + 8 + 15) & ~uint64_t{15}, 32);
}

// Whether malloc has probably made a mapping for the block. Then the block begins at the first aligned address after a
// header of 16 bytes. So the lowest bits of its address are a power of two. Blocks of whole pages are mappings, too.
inline bool isProbablyMapping(const Block &block) {
  constexpr uint64_t kOfMapping = 128 << 10, kPage = 4096;
  const uint64_t offset = block.address % kPage;
  return offset == 0 || (block.size >= kOfMapping && std::has_single_bit(offset));
}

} // namespace msleaks::analysis::inline analyzers
