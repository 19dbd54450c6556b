// Which allocations --watch names.
#pragma once

#include "arena.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

inline constexpr uint32_t kKnownSites = 4096;

// Which sites were asked for, and what the answer was. A part of the list of watches, with a lock of its own: a look
// holds the list while it waits for the driver, whose own threads allocate meanwhile.
struct ChosenSites {
  uint32_t lock;
  // Site << 1 | verdict, where it was asked last; 0 = empty.
  std::atomic<uint64_t> known[kKnownSites];
  bool asked[kMaxImages + 1]; // with the lock held; by image
};

// Whether the session watches blocks by where they are, or where they come from: then every event goes the long way,
// which looks at it.
bool choosesBlocks() noexcept;

// Whether a block with this address, allocated at this site, is to be watched. May wait for the collector, bounded, and
// needs no list of watches.
bool isChosen(ChosenSites &, uint64_t address, uint32_t site) noexcept;

} // namespace msleaks::runtime
