// Stores which parts of guarded blocks were touched, and which of their pages are open.
//
// A block is divided into at most kMostParts parts, which consist of whole pages. The first touch of a part in a
// process opens the part in this process. A part counts as touched if any process has touched it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline second_run {

// A block, with the touches by all processes that have inherited it.
struct GuardedBlock {
  uint64_t address = 0, bytes = 0; // as the program requested
  uint64_t part_bytes = 0;
  uint64_t born_ns = 0, first_touch_ns = 0, gone_ns = 0; // 0: has not happened
  std::vector<bool> touched;                             // whether each part was touched
  bool unwatched = false;                                // opened without a touch, so later touches are not known
  std::optional<uint64_t> resident_bytes = {};           // touched bytes by the page tables, when the block ended

  bool isTouched() const { return first_touch_ns != 0; }
  uint64_t untouchedBytes() const;
  // Returns how many bytes of touched parts perhaps were not touched. Each touched part has at least one touched page.
  // If the page tables were read, returns 0.
  uint64_t doubtfulBytes(uint64_t page_bytes) const;
};

// Addresses of whole pages.
struct PageRange {
  uint64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

// The guarded blocks of one process.
class GuardedBlocks {
public:
  static constexpr uint64_t kMostParts = 128;
  // A process can have 65530 mappings. Each part that is opened alone needs two of them.
  static constexpr size_t kMostBlocks = 8000;
  // While a fork waits for the tracer, other threads of the parent may free many blocks that the child still has.
  static constexpr size_t kMostRemoved = kMostBlocks;

  explicit GuardedBlocks(uint64_t page_bytes) : page_bytes_(page_bytes) {}

  bool hasRoom() const { return blocks_.size() < kMostBlocks; }
  bool empty() const { return blocks_.empty(); }
  // `touched_bytes` is the number of bytes at the beginning of the block that have content.
  std::shared_ptr<GuardedBlock> add(uint64_t address, uint64_t bytes, uint64_t touched_bytes, uint64_t now_ns);
  // The parts that were touched in the block at `from` count as touched in the new block.
  std::shared_ptr<GuardedBlock> move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t now_ns);
  void remove(uint64_t address, uint64_t now_ns);

  // Reads the page tables. They must be called before a block is removed or the process ends. `residentBytes` returns
  // how many bytes of a range were ever touched, in whole pages.
  using ResidentBytes = std::function<uint64_t(PageRange)>;
  void measure(uint64_t address, const ResidentBytes &);
  void measureAll(const ResidentBytes &);

  // Returns the block whose pages contain the address, or null.
  GuardedBlock *at(uint64_t address) const;
  struct Touch {
    GuardedBlock *block = nullptr; // null: the address is in no block
    bool first = false;            // whether this is the first touch of the block
    PageRange closed;              // pages that must be opened. Empty: they are open already
  };
  // Records a touch of `bytes` from an address on. From now on the touched parts count as open.
  Touch touch(uint64_t address, uint64_t bytes, uint64_t now_ns);
  // Takes the state that a fork's child has by its own page tables. The copy of the parent's state may be younger than
  // the child. `isOpen` returns whether the page at this address can be read.
  void follow(const std::function<bool(uint64_t address)> &isOpen);
  // Returns all pages that are still closed. From now on they count as open, and their blocks as unwatched.
  std::vector<PageRange> openAll();

private:
  struct Entry {
    std::shared_ptr<GuardedBlock> block;
    std::vector<bool> open; // whether each part is open
  };
  Entry *entryAt(uint64_t address);
  uint64_t pagesEnd(const GuardedBlock &block) const;

  uint64_t page_bytes_;
  std::map<uint64_t, Entry> blocks_;               // by address
  std::deque<std::pair<uint64_t, Entry>> removed_; // the last ones
};

} // namespace msleaks::analysis::inline second_run
