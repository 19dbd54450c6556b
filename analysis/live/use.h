// Uses of blocks by launches, copies and fills, and the parts of a block's life that follow from the uses.
#pragma once

#include "analysis/places/site.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <initializer_list>
#include <unordered_map>

namespace msleaks::analysis::inline live {

// The block is an argument of a launch, one end of a copy, or the target of a fill.
struct Use {
  uint64_t time_ns = 0;
  SiteId site; // site of the call; none = not known
  uint32_t process = 0, stream = 0;
  bool reads = false, writes = false; // both false: not known
  bool is_launch = false;             // a launch may use only a part of the block, or nothing
  uint64_t bytes = 0;                 // bytes that a copy or fill reads or writes; 0 = not known
};

// A copy of a host block to a block of a device.
struct CopyToDevice {
  uint64_t time_ns = 0;
  SiteId site; // site of the call; none = not known
};

// How many bytes of a block were touched when its pages were looked at.
struct TouchedPages {
  uint64_t time_ns = 0;
  uint64_t bytes = 0;     // the other bytes were never read or written. In a sample they are zeros
  bool is_last = false;   // the last look, because the block is freed now
  bool is_sample = false; // the block is small, and its content was looked at (abi/sampled_block.h)
};

// Whether uses of blocks of this heap can be seen. Uses by the process that owns imported memory are not seen.
constexpr bool hasUses(abi::Heap heap) { return heap == abi::Heap::Device; }

// The parts of a block's life. If uses of its heap cannot be seen, its whole life is NotUsed.
enum class LifePart : uint8_t {
  NotUsed, // until its first use
  InUse,   // from the first use to the last one
  Late,    // from the last use until it is freed
  Kept,    // after the last use, if it is never freed
  Unused,  // its whole life, if it is never used
  Count
};

class LifeParts {
public:
  constexpr LifeParts(std::initializer_list<LifePart> parts) {
    for (const LifePart part : parts)
      bits_ |= 1u << static_cast<unsigned>(part);
  }
  static constexpr LifeParts all() {
    return {LifePart::NotUsed, LifePart::InUse, LifePart::Late, LifePart::Kept, LifePart::Unused};
  }
  constexpr bool has(LifePart part) const { return (bits_ >> static_cast<unsigned>(part) & 1) != 0; }
  bool operator==(const LifeParts &) const = default;

private:
  unsigned bits_ = 0;
};

// Whether all uses of device memory by a process are seen. If not, msleaks cannot tell which memory is no longer
// used.
class UseSources {
public:
  // `listed`: each call that can use the block is seen (OpenCL).
  void addBlock(uint32_t process, bool listed) {
    Source &source = sources_[process];
    (listed ? source.has_listed_blocks : source.has_other_blocks) = true;
  }
  // `listed`: later Access events name all memory that the launch uses.
  void addLaunch(uint32_t process, bool listed) {
    Source &source = sources_[process];
    source.listed |= listed;
    source.not_listed += listed ? 0 : 1;
  }
  // Later events name the memory that the last launch uses.
  void listLast(uint32_t process) {
    Source &source = sources_[process];
    source.listed = true;
    source.not_listed -= source.not_listed != 0 ? 1 : 0;
  }
  // The process used memory, and no event says which.
  void addUnknown(uint32_t process) { sources_[process].unknown = true; }
  // Earlier uses are not known, in all processes.
  void forgetAll() { all_unknown_ = true; }

  // A process whose launches are not seen may use its device unseen, unless each use of its blocks is seen (OpenCL).
  bool seesAll(uint32_t process) const {
    const auto found = sources_.find(process);
    if (all_unknown_ || found == sources_.end())
      return false;
    const Source &source = found->second;
    const bool is_known = source.listed || (source.has_listed_blocks && !source.has_other_blocks);
    return is_known && !source.unknown && source.not_listed == 0;
  }

private:
  struct Source {
    bool listed = false, unknown = false;
    bool has_listed_blocks = false, has_other_blocks = false;
    uint64_t not_listed = 0; // launches
  };
  std::unordered_map<uint32_t, Source> sources_; // of processes that have or used device memory
  bool all_unknown_ = false;
};

} // namespace msleaks::analysis::inline live
