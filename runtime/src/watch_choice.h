// Which allocations --watch names.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

// Whether the session watches blocks by where they are, or where they come from: then every event goes the long way,
// which looks at it.
bool choosesBlocks() noexcept;

// Whether a block with this address, allocated at this site, is to be watched. May wait for the collector, bounded.
// With the list of watches held.
bool isChosen(uint64_t address, uint32_t site) noexcept;

} // namespace msleaks::runtime
