// Which pages of large blocks were ever touched: what the page tables of a process say of memory whose uses no call
// names.
//
// A page that is not there was never read nor written since its mapping was made, or since it was given back to the
// kernel. One that is there may have been touched by a block that lay there before. So too much may count as touched,
// never too little.
#pragma once

#include "analysis/reach/process_memory.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/session.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline reach {

// Tells a process which of its blocks the collector looks at, so that the process itself looks once more just before it
// frees one (abi::LargeBlocks).
class LargeBlocks {
public:
  // Null: nobody is told.
  explicit LargeBlocks(abi::LargeBlocks *told) : told_(told) {}

  // Where there are too many, the largest ones stay.
  void add(uint64_t address, uint64_t size, uint64_t time_ns);
  void remove(uint64_t address);

private:
  void tellFilter();

  abi::LargeBlocks *told_;
};

class PageAccess {
public:
  // Looks at host blocks and mappings of so many bytes or more. The process is told of them by `told`, if that is not
  // null.
  PageAccess(uint32_t pid, uint64_t least_bytes, abi::LargeBlocks *told = nullptr)
      : pid_(pid), least_bytes_(least_bytes), told_(told) {}

  uint32_t pid() const { return pid_; }
  bool hasBlocks() const { return !blocks_[0].empty() || !blocks_[1].empty(); }
  // Whether the kernel tells the pages of this process. They are opened at the first call.
  bool works();
  // Whether the event makes a block to look at.
  bool begins(const abi::Slot &) const;
  // In the order of each thread's events, with times in ns.
  void onEvent(const abi::Slot &slot) {
    if (hasBlocks() || begins(slot))
      follow(slot);
  }
  // Whether it may look again: 100 times a second, a fiftieth of the time, and more seldom as the process grows older
  // or nothing changes.
  bool isDue(uint64_t now_ns) const { return now_ns >= next_ns_ && now_ns >= rest_until_ns_ && hasBlocks(); }
  // Looks, from `now_ns` on. Returns a Pages event for each block of which more is touched, and one that ends the look;
  // two slots each. Their time is the end of the look: a block that was freed during it is dead by then, and its event
  // is ignored. A look at much memory is taken in parts: it is due again at once, and there are no events yet. None is
  // due behind the look at the exit: who reads the process' memory then maps pages of it.
  const std::vector<abi::Slot> &look(uint64_t now_ns, bool at_exit = false);
  // How many blocks were not looked at, because there were too many.
  uint64_t leftOut() const { return left_out_; }

private:
  struct Block {
    uint64_t size = 0, time_ns = 0;
    uint64_t touched_bytes = 0;
    bool known = false;         // it was looked at
    uint64_t looked_until = 0;  // address up to which a look under way has read its pages; 0 = none has begun
    uint64_t touched_until = 0; // touched bytes below it
  };
  using Blocks = std::map<uint64_t, Block>; // by address
  struct Position {
    size_t heap = 0;
    uint64_t address = 0;
  };

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
  std::optional<ProcessMemory> memory_; // opened once there is a block
  uint64_t least_bytes_, left_out_ = 0;
  LargeBlocks told_;
  std::array<Blocks, 2> blocks_;        // of the host's heap, mappings
  uint64_t first_ns_ = 0;               // when the first look began
  uint64_t changed_ns_ = 0;             // when a look last found a change
  uint64_t next_ns_ = 0;                // no look is due before
  uint64_t rest_until_ns_ = 0;          // nor before this, unless there is a new block
  std::optional<Position> at_;          // where the look under way goes on
  uint64_t begin_ns_ = 0, cost_ns_ = 0; // of that look
  bool has_untouched_ = false;          // that look has seen a block of which nothing is touched
  std::vector<abi::PagesEvent> found_;
  std::vector<abi::Slot> events_;
};

} // namespace msleaks::analysis::inline reach
