// The watched blocks of one process: what is in them, and the pages that they lie on.
#pragma once

#include "analysis/collect/process_memory.h"
#include "analysis/verify/call_buffers.h"
#include "analysis/verify/guarded_blocks.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace msleaks::analysis {

// Pages that nobody can write while they are closed.
struct ClosablePages {
  PageRange range;
  int protection = 0; // while they are open (PROT_READ | PROT_WRITE …)
  int closed() const;
  bool operator==(const ClosablePages &other) const {
    return range.begin == other.range.begin && range.end == other.range.end && protection == other.protection;
  }
};

// The writable pages on which the block lies, without those that hold something of `untouchable`: a thread's control
// block, which the kernel writes whenever it likes.
std::vector<ClosablePages> pagesOf(std::span<const MappedRange> mapped, PageRange block, uint64_t page_bytes,
                                   std::span<const PageRange> untouchable);

// Bytes of a block that have changed: from the first up to behind the last one, counted from its beginning.
struct ChangedBytes {
  uint64_t begin = 0, end = 0;
};

class WatchedBlock {
public:
  // `read`: memory of the process, as much as is there.
  using Read = std::function<uint64_t(uint64_t address, std::span<std::byte>)>;

  WatchedBlock(PageRange bytes, std::vector<ClosablePages> pages) : bytes_(bytes), pages_(std::move(pages)) {}

  PageRange bytes() const { return bytes_; }
  const std::vector<ClosablePages> &pages() const { return pages_; }
  bool liesOn(uint64_t address) const { return liesOn(Buffer{address, 1}); } // on one of its pages
  bool liesOn(const Buffer &) const;

  // What of it is there, from now on: nothing has changed.
  void keep(const Read &);
  // What has changed within these addresses since they were kept; they are kept anew.
  std::optional<ChangedBytes> change(PageRange within, const Read &);

private:
  PageRange bytes_;
  std::vector<ClosablePages> pages_;
  std::vector<std::byte> content_;
};

} // namespace msleaks::analysis
