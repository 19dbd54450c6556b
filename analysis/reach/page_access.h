// Finds which pages of large blocks were ever touched, from the page tables of the process. This also shows uses of
// memory that no call reports.
//
// A page that is absent was never read or written since its mapping was made, or since the page was given back to the
// kernel. A page that is present may have been touched by an earlier block at this address. So too much may count as
// touched, but never too little.
//
// The content of a sample of smaller blocks is read, too (SampledBlocks).
#pragma once

#include "analysis/reach/process_memory.h"
#include "analysis/reach/sampled_blocks.h"
#include "analysis/reach/told_blocks.h"
#include "msleaks/abi/events.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline reach {

class PageAccess {
public:
  // Looks at host blocks and mappings of at least `least_bytes`. If `told` is not null, it tells the process about
  // them.
  PageAccess(uint32_t pid, uint64_t least_bytes, abi::LargeBlocks *told = nullptr)
      : pid_(pid), least_bytes_(least_bytes), told_(told), samples_(least_bytes, told_) {}

  uint32_t pid() const { return pid_; }
  bool hasBlocks() const { return hasLargeBlocks() || samples_.hasBlocks(); }
  // Whether the kernel shows the page table of this process. The first call opens it.
  bool works();
  // Whether the event allocates a block to look at.
  bool begins(const abi::Slot &) const;
  // If the event allocates a block that may be in the sample of small blocks: its size, else 0.
  uint64_t sampledBytes(const abi::Slot &slot) const { return samples_.bytesOf(slot); }
  // Takes an event, whose time is in ns. The events of each thread must be in order.
  void onEvent(const abi::Slot &slot) {
    samples_.onEvent(slot);
    if (hasLargeBlocks() || begins(slot))
      follow(slot);
  }
  // Whether a look is due. Looks happen at most 100 times a second and take at most a fiftieth of the time. They are
  // less frequent when the process is older or nothing changes.
  bool isDue(uint64_t now_ns) const { return now_ns >= next_ns_ && now_ns >= rest_until_ns_ && hasBlocks(); }
  // Looks at all blocks. The look begins at `now_ns`. Returns a Pages event for each block of which more is touched,
  // and one that ends the look; each has two slots. Their time is the end of the look. If a block was freed during the
  // look, it is dead by then, and its event is ignored. A look at much memory is split into parts: then the result is
  // empty, and the next part is due at once. After the look at the exit, no look is due, because the reading of
  // pointers maps pages of the process.
  const std::vector<abi::Slot> &look(uint64_t now_ns, bool at_exit = false);
  // Returns how many blocks were not looked at, because there were too many.
  uint64_t leftOut() const { return left_out_; }

private:
  struct Block {
    uint64_t size = 0, time_ns = 0;
    uint64_t touched_bytes = 0;
    bool known = false;         // the block was looked at before
    uint64_t looked_until = 0;  // address up to which the current look has read the block's pages; 0 = not begun
    uint64_t touched_until = 0; // touched bytes below looked_until
  };
  using Blocks = std::map<uint64_t, Block>; // blocks by address
  struct Position {
    size_t heap = 0;
    uint64_t address = 0;
  };

  bool hasLargeBlocks() const { return !blocks_[0].empty() || !blocks_[1].empty(); }
  void follow(const abi::Slot &);
  void add(abi::Heap, uint64_t address, uint64_t size, uint64_t time_ns);
  void remove(abi::Heap, uint64_t address, uint64_t size, uint64_t time_ns);
  Blocks::iterator forget(Blocks &, Blocks::iterator);
  uint64_t touchedAtEnd(uint64_t begin, uint64_t end) const;
  void lookOn(uint64_t left_bytes);
  bool readPages(uint64_t address, Block &, uint64_t &left);
  void report(abi::Heap, uint64_t address, Block &);
  void endLook(uint64_t now_ns, bool at_exit);
  void rest(uint64_t now_ns);
  Blocks &of(abi::Heap heap) { return blocks_[heap == abi::Heap::Mapping]; }

  uint32_t pid_;
  std::optional<ProcessMemory> memory_; // opened at the first look
  uint64_t least_bytes_, left_out_ = 0;
  ToldBlocks told_;
  SampledBlocks samples_;
  std::array<Blocks, 2> blocks_;        // blocks of the host's heap, and mappings
  uint64_t first_ns_ = 0;               // when the first look began
  uint64_t changed_ns_ = 0;             // when a look last found a change
  uint64_t next_ns_ = 0;                // no look is due before
  uint64_t rest_until_ns_ = 0;          // nor before this, unless there is a new block
  std::optional<Position> at_;          // where the current look continues
  uint64_t begin_ns_ = 0, cost_ns_ = 0; // of the current look
  bool has_untouched_ = false;          // the current look has found a block that is untouched
  std::vector<abi::PagesEvent> found_;
  std::vector<abi::Slot> events_;
};

} // namespace msleaks::analysis::inline reach
