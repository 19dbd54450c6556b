// Decides which allocations --watch names.
#pragma once

#include "arena.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

inline constexpr uint32_t kKnownSites = 4096;

// The sites that were asked for, with the answers. This part of the list of watches has a lock of its own. A look holds
// the list while it waits for the driver, whose own threads allocate meanwhile.
struct ChosenSites {
  uint32_t lock;
  // Site << 1 | answer, for the sites asked last; 0 = empty.
  std::atomic<uint64_t> known[kKnownSites];
  bool asked[kMaxImages + 1]; // with the lock held; by image
};

// Whether the session watches blocks by their address or their allocation's line. Then every event takes the slow path,
// which checks it.
bool choosesBlocks() noexcept;

// Whether to watch a block with this address that was allocated at this site. It may wait for the collector, for a
// bounded time, and does not need the list of watches.
bool isChosen(ChosenSites &, uint64_t address, uint32_t site) noexcept;

} // namespace msleaks::runtime
