// What LiveSet keeps of one process.
#pragma once

#include "msleaks/analysis/live_set.h"

#include "block_table.h"
#include "shared_objects.h"
#include "skew_window.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

inline constexpr uint64_t kUsualPageBytes = 4096;

// begin + bytes, without wrapping.
inline uint64_t endOf(uint64_t begin, uint64_t bytes) { return begin + std::min(bytes, UINT64_MAX - begin); }

struct LiveSet::Mapping {
  Block block;
  ObjectKey object{};  // whose memory it shows; none: its own, or a file's
  uint64_t offset = 0; // where it begins in there

  uint64_t end() const { return endOf(block.address, block.size); }
  // What is left of it from `address` on.
  Mapping from(uint64_t address) const {
    Mapping tail = *this;
    tail.block.address = address;
    tail.block.size = end() > address ? end() - address : 0;
    tail.offset += address - block.address;
    return tail;
  }
};

// What comes back if a realloc, or a free that can fail, was refused: the last one of a thread. Only a mapping can have
// several pieces.
struct LiveSet::Parked {
  uint64_t address; // that the free named
  bool was_owner;   // one of several of a counted block, which lives on
  Mapping first;
  std::vector<Mapping> more;
};

struct LiveSet::Process {
  uint32_t number = 0;
  uint64_t page_bytes = kUsualPageBytes;
  BlockTable tables[static_cast<size_t>(AddressSpace::Count)]; // that of Mapping is not used
  std::map<uint64_t, Mapping> mappings;                        // by address: munmap names ranges
  std::unordered_map<uint32_t, abi::SharedEvent> shown;        // by stream: what its next mapping shows
  std::unordered_map<uint64_t, Parked> parked;                 // by stream and space
  SkewWindow replaced; // blocks whose address was handed out again: their free may still arrive
  SkewWindow early;    // frees and retains of no block: its allocation by another thread may still arrive

  BlockTable &table(AddressSpace space) { return tables[static_cast<size_t>(space)]; }
  Block *find(AddressSpace space, uint64_t address) {
    if (space != AddressSpace::Mapping)
      return table(space).find(address);
    const auto found = mappings.find(address);
    return found == mappings.end() ? nullptr : &found->second.block;
  }
  // The mapping that begins before `address` and goes on behind it, or null.
  Mapping *across(uint64_t address) {
    auto at = mappings.lower_bound(address);
    if (at == mappings.begin())
      return nullptr;
    --at;
    return at->second.end() > address ? &at->second : nullptr;
  }
  static uint64_t parkingOf(const StreamEvent &event) {
    return uint64_t{event.stream} << 8 | static_cast<uint8_t>(spaceOf(event.event.header().heap));
  }
};

} // namespace msleaks::analysis
