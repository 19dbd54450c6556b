// Computes which blocks of a process something still pointed to when its memory was read, and the path of pointers.
//
// A pointer to any byte of a block counts, as in LeakSanitizer. It follows pointers from globals, thread-local storage,
// stacks, registers and memory of unknown use, and then through blocks. In the C library's heap, memory outside of
// blocks is free or belongs to the allocator. So it holds nothing.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/live/sorted_addresses.h"
#include "analysis/trace/pointers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline live {

enum class Reach : uint8_t {
  Lost,     // no pointer from memory in use reaches it
  Indirect, // only lost blocks point to it
  Held,
  Unknown, // the memory was not read, or it cannot be decided
};
inline constexpr size_t kReaches = 4;
const char *nameOf(Reach);

// The path to a block: a word outside of blocks, and the blocks through which the path leads.
struct Holders {
  struct Root {
    MemoryRegion region;
    uint64_t address; // address of the word
  };
  struct Link {
    SiteId site;     // site of the block
    uint64_t offset; // offset of the pointer to the next block
    uint64_t count;  // consecutive blocks with the same site and offset
    bool whole;      // the next block is the mapping that contains this block
  };
  std::optional<Root> root; // none: the first block is lost
  std::vector<Link> links;  // if the path is long: only the first and the last links
  uint64_t left_out = 0;    // number of blocks between these links
};

class Reachability {
public:
  // Takes the blocks of the map's process that are alive in `live`. It does not ask `live` for the blocks of other
  // processes: with N processes, the total time would otherwise grow with N².
  Reachability(const BlocksByProcess &live, const PointedMemory &memory);

  Reach of(const Block &) const;
  // For an indirectly lost block: the lost block that leads to it. Otherwise null.
  const Block *headOf(const Block &) const;
  // For a held or indirectly lost block. Otherwise empty.
  Holders holdersOf(const Block &) const;
  // Whether a variable of the C library points directly to the block, for example to the buffer of stdout.
  bool isHeldByLibc(const Block &) const;
  // The time when the memory was read.
  uint64_t timeNs() const { return map_.time_ns; }
  // Why blocks are unknown. Empty if there is no reason that concerns all blocks.
  const std::string &whyNot() const { return map_.why_not; }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Edge {
    uint32_t from, to;
    uint32_t offset; // of the pointer, in words; kWhole: `to` is the mapping around `from`
  };
  static constexpr uint32_t kWhole = UINT32_MAX;
  struct RootWord {
    uint64_t at;
    uint32_t to;
  };
  struct Parent {
    uint64_t at = 0; // address of the pointer
    uint32_t node = kNone;
    bool whole = false;
  };
  class Reading;

  uint32_t nodeAmong(const SortedAddresses &begins, size_t first, uint64_t address) const;
  uint32_t nodeHolding(uint64_t address) const;
  uint32_t mappingHolding(uint64_t address) const;
  uint32_t nodeOf(const Block &) const;
  void takeBlocks(const BlocksByProcess &);
  void takeEdges(std::vector<Edge> &&);
  void flood(Reach);
  void floodFrom(const std::vector<RootWord> &, Reach);
  void findLost();
  void takeHead(uint32_t node);
  std::vector<bool> pointedToByOthers() const;
  std::vector<uint32_t> circlesByFinish() const;
  const MemoryRegion *regionOf(uint64_t address) const;

  PointerMap map_;
  std::vector<Block> blocks_;       // blocks of the host's heap, then mappings; each by address
  SortedAddresses heap_, mappings_; // starts of these blocks
  std::vector<Edge> edges_;         // sorted by `from`
  std::vector<uint64_t> first_edge_;
  std::vector<Reach> reach_;
  std::vector<bool> visited_;
  std::vector<Parent> parents_;
  std::vector<uint32_t> heads_; // of lost blocks, and of indirectly lost ones
  std::vector<uint32_t> queue_;
};

} // namespace msleaks::analysis::inline live
