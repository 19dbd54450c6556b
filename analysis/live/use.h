// Uses of blocks: what launches, copies and fills read and write, and what that says of a block's life.
#pragma once

#include "analysis/places/site.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <initializer_list>
#include <unordered_map>

namespace msleaks::analysis::inline live {

// A launch is given the block, a copy has it at one end, or a fill.
struct Use {
  uint64_t time_ns = 0;
  SiteId site; // where the call is; none: not known
  uint32_t process = 0, stream = 0;
  bool reads = false, writes = false; // neither: not known which
  bool is_launch = false;             // then it does no more than that, and maybe not with all of the block
  uint64_t bytes = 0;                 // that a copy or fill reads or writes; 0: not known
};

// A copy of a host block to a block of a device.
struct CopyToDevice {
  uint64_t time_ns = 0;
  SiteId site; // of the call; none: not known
};

// How much of a block had been touched when somebody looked at its pages.
struct TouchedPages {
  uint64_t time_ns = 0;
  uint64_t bytes = 0;   // the rest was never read nor written
  bool is_last = false; // and never will be: the block is freed now
};

// Heaps whose uses can be seen.
constexpr bool hasUses(abi::Heap heap) { return heap == abi::Heap::Device; }

// The parts of a block's life. Of a heap whose uses nobody sees, all of it is NotUsed.
enum class LifePart : uint8_t {
  NotUsed, // until its first use
  InUse,   // from the first use to the last one
  Late,    // from there until it is freed
  Kept,    // the same of a block that is never freed
  Unused,  // all of it, of a block that is never used
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

// Which processes' uses of device memory are all seen. Where they are not, nobody can say which memory is no longer
// used.
class UseSources {
public:
  // `listed`: each call that can use it is seen (OpenCL).
  void addBlock(uint32_t process, bool listed) {
    Source &source = sources_[process];
    (listed ? source.has_listed_blocks : source.has_other_blocks) = true;
  }
  // `listed`: Access events behind it name all memory that it was given.
  void addLaunch(uint32_t process, bool listed) {
    Source &source = sources_[process];
    source.listed |= listed;
    source.not_listed += listed ? 0 : 1;
  }
  // What the last launch was given is told behind it.
  void listLast(uint32_t process) {
    Source &source = sources_[process];
    source.listed = true;
    source.not_listed -= source.not_listed != 0 ? 1 : 0;
  }
  // Memory was used, and nobody knows which.
  void addUnknown(uint32_t process) { sources_[process].unknown = true; }
  // What was before is not known, of any process.
  void forgetAll() { all_unknown_ = true; }

  // Where no launch is seen, the process may use its device in a way that nobody sees, unless its blocks have none.
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
  std::unordered_map<uint32_t, Source> sources_; // that have or used device memory
  bool all_unknown_ = false;
};

} // namespace msleaks::analysis::inline live
