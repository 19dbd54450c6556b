// Decides whether --watch chooses an allocated block.
#pragma once

#include "arena.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

inline constexpr uint32_t kKnownSites = 4096;

// Results of earlier calls of isChosen, and the images for which the collector has answered. This struct has its own
// lock: while a thread compares blocks, it holds the lock of the list of watches and waits for the driver. The driver's
// own threads may allocate during this wait, and then need this struct.
struct ChosenSites {
  uint32_t lock;
  // Each entry is site << 1 | result, for a recent site; 0 = empty.
  std::atomic<uint64_t> known[kKnownSites];
  bool asked[kMaxImages + 1]; // by image: whether the collector has answered; use with the lock held
};

// Whether the session chooses blocks by their address or by the line of their allocation. If so, every event takes the
// slow path, which checks the block.
bool choosesBlocks() noexcept;

// Whether to watch the block with this address, which was allocated at this site. This function may wait for the
// collector, for a bounded time. The caller need not hold the lock of the list of watches.
bool isChosen(ChosenSites &, uint64_t address, uint32_t site) noexcept;

} // namespace msleaks::runtime
