// Uses of blocks: what launches, copies and fills read and write, and what that says of a block's life.
#pragma once

#include "analysis/places/site.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <initializer_list>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
