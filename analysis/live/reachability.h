// Which blocks of a process something still pointed to when its memory was read, and from where: lost and held ones.
//
// A pointer to any byte of a block counts, as for LeakSanitizer. It is followed from globals, thread-local storage,
// stacks, registers and memory of unknown use through blocks. What the C library's heap has outside of blocks is free
// or tells of blocks: it holds nothing.
#pragma once

#include "analysis/live/live_set.h"
#include "analysis/trace/pointers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline live {

enum class Reach : uint8_t {
  Lost,     // nothing that is in use leads to it
  Indirect, // only lost blocks do
  Held,
  Unknown, // it was not read, or cannot be told
};
inline constexpr size_t kReaches = 4;
const char *nameOf(Reach);

// The way to a block: a word outside of blocks, and the blocks that it leads through.
struct Holders {
  struct Root {
    MemoryRegion region;
    uint64_t address; // of the word
  };
  struct Link {
    SiteId site;     // of the block
    uint64_t offset; // offset of the pointer in it to the next one
    uint64_t count;  // blocks in a row with the same site and offset
    bool whole;      // the next one is the mapping that the block lies in
  };
  std::optional<Root> root; // none: the first block is lost
  std::vector<Link> links;  // those of a long way: the first and the last ones
  uint64_t left_out = 0;    // blocks between these
};

class Reachability {
public:
  // Takes the blocks of the map's process that are alive in `live`. It asks `live` for no other process. If each of N
  // processes asked for the blocks of all processes, the time would grow with N².
  Reachability(const BlocksByProcess &live, const PointedMemory &memory);

  Reach of(const Block &) const;
  // Of a block that is indirectly lost: the lost one that leads to it; otherwise null.
  const Block *headOf(const Block &) const;
  // Of a block that is held or indirectly lost; otherwise nothing.
  Holders holdersOf(const Block &) const;
  // Whether a variable of the C library itself points to it, and that is why it is held: the buffer of stdout.
  bool isHeldByLibc(const Block &) const;
  // When the memory was read.
  uint64_t timeNs() const { return map_.time_ns; }
  // Why blocks are unknown; empty: none is for a reason that holds for all.
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
    uint64_t at = 0; // the pointer
    uint32_t node = kNone;
    bool whole = false;
  };
  class Reading;

  uint32_t nodeHolding(uint64_t address) const;
  uint32_t nodeOf(const Block &) const;
  void takeBlocks(const BlocksByProcess &);
  void sortEdges(const std::vector<Edge> &);
  void flood(Reach);
  void floodFrom(const std::vector<RootWord> &, Reach);
  void findLost();
  void takeHead(uint32_t node);
  std::vector<bool> pointedToByOthers() const;
  std::vector<uint32_t> circlesByFinish() const;
  const MemoryRegion *regionOf(uint64_t address) const;

  PointerMap map_;
  std::vector<Block> blocks_;    // those of the host's heap, then mappings, each by address
  size_t in_heap_ = 0;           // of them
  std::vector<uint64_t> begins_; // of blocks_
  std::vector<Edge> edges_;      // by `from`
  std::vector<uint64_t> first_edge_;
  std::vector<Reach> reach_;
  std::vector<bool> visited_;
  std::vector<Parent> parents_;
  std::vector<uint32_t> heads_; // of lost blocks, and of those that they lead to
  std::vector<uint32_t> queue_;
};

} // namespace msleaks::analysis::inline live
