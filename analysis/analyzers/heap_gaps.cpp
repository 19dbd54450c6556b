#include "analysis/analyzers/heap_gaps.h"

#include "analysis/analyzers/malloc_chunk.h"

#include <algorithm>

namespace msleaks::analysis::inline analyzers {
namespace {

// glibc's malloc puts a block into a chunk. The chunk begins 16 bytes before the block.
constexpr uint64_t kBeforeBlock = 16;
// A page that contains a part of the head of a free chunk is not given back.
constexpr uint64_t kHeadOfFree = 48;

} // namespace

HeapGaps::HeapGaps(std::vector<HeapPartLook> parts, unsigned page_shift) : page_shift_(page_shift) {
  std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
  uint64_t pages = 0;
  for (const HeapPartLook &part : parts) {
    parts_.push_back({part, pages, (part.end - part.begin) >> page_shift_});
    pages += parts_.back().pages;
  }
  used_.resize(pages);
}

void HeapGaps::add(const Block &block) {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), block.address,
                                      [](uint64_t address, const Part &part) { return address < part.look.begin; });
  if (after == parts_.begin() || block.address >= std::prev(after)->look.end)
    return;
  Part &part = *std::prev(after);
  const uint64_t begin = std::max(block.address - kBeforeBlock, part.look.begin);
  const uint64_t bytes = chunkBytesOf(std::min(block.size, part.look.end - begin));
  const uint64_t end = std::min(begin + bytes + kHeadOfFree, part.look.end);
  part.block_bytes += bytes;
  const uint64_t first = (begin - part.look.begin) >> page_shift_, last = (end - 1 - part.look.begin) >> page_shift_;
  std::fill(used_.begin() + static_cast<ptrdiff_t>(part.first_page + first),
            used_.begin() + static_cast<ptrdiff_t>(part.first_page + last + 1), true);
}

// Each page with a live block counts as resident. So the sums are too small rather than too large.
HeapGaps::Sums HeapGaps::sums() const {
  Sums sums;
  for (const Part &part : parts_) {
    const auto begin = used_.begin() + static_cast<ptrdiff_t>(part.first_page);
    const auto end = begin + static_cast<ptrdiff_t>(part.pages);
    const auto used_bytes = static_cast<uint64_t>(std::count(begin, end, true)) << page_shift_;
    const uint64_t resident = part.look.resident_bytes, free = resident - std::min(resident, used_bytes);
    sums.resident += resident;
    sums.unused += resident - std::min(resident, part.block_bytes);
    (part.look.is_main ? sums.main : sums.others) += free;
    if (!part.look.is_main)
      continue;
    const auto last = std::find(std::make_reverse_iterator(end), std::make_reverse_iterator(begin), true);
    sums.main_end = std::min(free, static_cast<uint64_t>(last - std::make_reverse_iterator(end)) << page_shift_);
  }
  return sums;
}

} // namespace msleaks::analysis::inline analyzers
