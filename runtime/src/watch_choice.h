// Decides whether --watch chooses an allocated block.
#pragma once

#include "arena.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

inline constexpr uint32_t kKnownSites = 4096;

// Results of earlier calls of isChosen, by site, and the images for which the collector was asked. This struct has its
// own lock. A thread that compares blocks holds the lock of the list of watches while it waits for the driver. During
// this wait the driver's own threads allocate, and their allocations need this struct.
struct ChosenSites {
  uint32_t lock;
  // Each entry is site << 1 | result, for a recent site; 0 = empty.
  std::atomic<uint64_t> known[kKnownSites];
  bool asked[kMaxImages + 1]; // by image: whether the collector has been asked; read and written with the lock held
};

// Whether the session chooses blocks by their address or by the line of their allocation. Then every event takes the
// slow path, which checks the block.
bool choosesBlocks() noexcept;

// Whether to watch a block with this address that was allocated at this site. This function may wait for the collector,
// for a bounded time. The caller does not need the lock of the list of watches.
bool isChosen(ChosenSites &, uint64_t address, uint32_t site) noexcept;

} // namespace msleaks::runtime
