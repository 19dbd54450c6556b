// Which pages of large blocks were ever touched: what the page tables of a process say of memory whose uses no call
// names.
//
// A page that is not there was never read nor written since its mapping was made, or since it was given back to the
// kernel. One that is there may have been touched by a block that lay there before. So too much may count as touched,
// never too little.
#pragma once

#include "analysis/collect/process_memory.h"
#include "msleaks/abi/events.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace msleaks::analysis {

class PageAccess {
public:
  // Of host blocks and mappings of so many bytes or more.
  PageAccess(uint32_t pid, uint64_t least_bytes) : memory_(pid), least_bytes_(least_bytes) {}

  bool works() const { return memory_.tellsTouched(); }
  // In the order of each thread's events, with times in ns.
  void onEvent(const abi::Slot &);
  // Whether it may look again: 100 times a second, and a fiftieth of the time at most.
  bool isDue(uint64_t now_ns) const { return now_ns >= next_ns_; }
  // Looks, from `now_ns` on. Returns a Pages event for each block of which more is touched, and one that ends the look;
  // two slots each. Their time is the end of the look: a block that was freed during it is dead by then, and its event
  // is ignored. None is due behind the look at the exit: who reads the process' memory then maps pages of it.
  const std::vector<abi::Slot> &look(uint64_t now_ns, bool at_exit = false);
  // How many blocks were not looked at, because there were too many.
  uint64_t leftOut() const { return left_out_; }

private:
  struct Block {
    uint64_t size = 0, time_ns = 0;
    uint64_t touched_bytes = 0;
    bool known = false; // it was looked at
  };
  using Blocks = std::map<uint64_t, Block>; // by address

  void add(abi::Heap, uint64_t address, uint64_t size, uint64_t time_ns);
  void remove(abi::Heap, uint64_t address, uint64_t size, uint64_t time_ns);
  uint64_t touchedBytes(uint64_t address, const Block &) const;
  uint64_t touchedAtEnd(uint64_t begin, uint64_t end) const;
  void lookAt(abi::Heap, uint64_t address, Block &);
  Blocks &of(abi::Heap heap) { return blocks_[heap == abi::Heap::Mapping]; }

  ProcessMemory memory_;
  uint64_t least_bytes_, next_ns_ = 0, left_out_ = 0;
  std::array<Blocks, 2> blocks_; // of the host's heap, mappings
  std::vector<abi::PagesEvent> found_;
  std::vector<abi::Slot> events_;
};

} // namespace msleaks::analysis
