// Which parts of guarded blocks were touched, and which of their pages are open.
//
// A block is divided into at most kMostParts parts, each of whole pages. The first touch of a part opens it, in the
// process that touched it; a part counts as touched whoever touched it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline second_run {

// One block, in all processes that inherited it.
struct GuardedBlock {
  uint64_t address = 0, bytes = 0; // as the program asked
  uint64_t part_bytes = 0;
  uint64_t born_ns = 0, first_touch_ns = 0, gone_ns = 0; // 0: not yet
  std::vector<bool> touched;                             // by part
  bool unwatched = false;                                // opened without a touch: what came behind that was not seen
  std::optional<uint64_t> resident_bytes = {};           // touched, page by page, when the last of its memory went

  bool isTouched() const { return first_touch_ns != 0; }
  uint64_t untouchedBytes() const;
  // Of the touched parts, bytes that perhaps were not touched, where it is not known page by page: each part has at
  // least one page that was.
  uint64_t doubtfulBytes(uint64_t page_bytes) const;
};

// Addresses, whole pages.
struct PageRange {
  uint64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

// The guarded blocks of one process.
class GuardedBlocks {
public:
  static constexpr uint64_t kMostParts = 128;
  // The kernel lets a process have 65530 mappings, and parts take two each where they are opened one by one.
  static constexpr size_t kMostBlocks = 8000;

  explicit GuardedBlocks(uint64_t page_bytes) : page_bytes_(page_bytes) {}

  bool hasRoom() const { return blocks_.size() < kMostBlocks; }
  bool empty() const { return blocks_.empty(); }
  // `touched_bytes`: of its beginning, which has content.
  std::shared_ptr<GuardedBlock> add(uint64_t address, uint64_t bytes, uint64_t touched_bytes, uint64_t now_ns);
  // What was touched of the block at `from`, counts as touched of the new one.
  std::shared_ptr<GuardedBlock> move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t now_ns);
  void remove(uint64_t address, uint64_t now_ns);

  // Called while the process still has its memory, before a block is removed or the process ends: `residentBytes` says
  // of addresses, whole pages, how much was ever touched, by pages.
  using ResidentBytes = std::function<uint64_t(PageRange)>;
  void measure(uint64_t address, const ResidentBytes &);
  void measureAll(const ResidentBytes &);

  // The block in whose pages the address lies; null: none.
  GuardedBlock *at(uint64_t address) const;
  struct Touch {
    GuardedBlock *block = nullptr; // null: of none
    bool first = false;            // of the block
    PageRange closed;              // which has to be opened; empty: it is open already
  };
  // Somebody touches `bytes` from an address on. They count as open from now on.
  Touch touch(uint64_t address, uint64_t bytes, uint64_t now_ns);
  // All that is still closed counts as open and unwatched from now on.
  std::vector<PageRange> openAll();

private:
  struct Entry {
    std::shared_ptr<GuardedBlock> block;
    std::vector<bool> open; // by part
  };
  Entry *entryAt(uint64_t address);
  uint64_t pagesEnd(const GuardedBlock &block) const;

  uint64_t page_bytes_;
  std::map<uint64_t, Entry> blocks_; // by address
};

} // namespace msleaks::analysis::inline second_run
