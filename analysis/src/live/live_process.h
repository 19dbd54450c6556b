// What LiveSet keeps of one process.
#pragma once

#include "msleaks/analysis/live_set.h"

#include "block_table.h"
#include "skew_window.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

inline constexpr uint64_t kUsualPageBytes = 4096;

// What comes back if a realloc, or a free that can fail, was refused: the last one of a thread. Only a mapping can have
// several pieces.
struct LiveSet::Parked {
  uint64_t address; // that the free named
  bool was_owner;   // one of several of a counted block, which lives on
  Block first;
  std::vector<Block> more;
};

struct LiveSet::Process {
  uint64_t page_bytes = kUsualPageBytes;
  BlockTable tables[static_cast<size_t>(AddressSpace::Count)]; // that of Mapping is not used
  std::map<uint64_t, Block> mappings;                          // by address: munmap names ranges
  std::unordered_map<uint64_t, Parked> parked;                 // by stream and space
  SkewWindow replaced; // blocks whose address was handed out again: their free may still arrive
  SkewWindow early;    // frees and retains of no block: its allocation by another thread may still arrive

  BlockTable &table(AddressSpace space) { return tables[static_cast<size_t>(space)]; }
  Block *find(AddressSpace space, uint64_t address) {
    if (space != AddressSpace::Mapping)
      return table(space).find(address);
    const auto found = mappings.find(address);
    return found == mappings.end() ? nullptr : &found->second;
  }
  static uint64_t parkingOf(const StreamEvent &event) {
    return uint64_t{event.stream} << 8 | static_cast<uint8_t>(spaceOf(event.event.header().heap));
  }
};

} // namespace msleaks::analysis
