// Decides which allocated blocks --watch chooses.
#pragma once

#include "arena.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

inline constexpr uint32_t kKnownSites = 4096;

// Sites for which the collector was asked, with its answers. This part of the list of watches has a lock of its own.
// The list is locked while a look waits for the driver, and the driver's own threads allocate meanwhile.
struct ChosenSites {
  uint32_t lock;
  // Each entry is site << 1 | answer, for a recent site; 0 = empty.
  std::atomic<uint64_t> known[kKnownSites];
  bool asked[kMaxImages + 1]; // by image: whether the collector has been asked; read and written with the lock held
};

// Whether the session chooses blocks by their address or by the line of their allocation. Then every event takes the
// slow path, which checks the block.
bool choosesBlocks() noexcept;

// Whether to watch a block with this address that was allocated at this site. This may wait for the collector, for a
// bounded time. It does not need the lock of the list of watches.
bool isChosen(ChosenSites &, uint64_t address, uint32_t site) noexcept;

} // namespace msleaks::runtime
