// Allocates anonymous memory for the runtime. The runtime copies words of the program's stack into this memory. These
// copies must not count as pointers to blocks, so the collector gets a list of all such memory.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

// Returns memory that is all zeros and aligned to 64 bytes, or null if there is no memory.
void *mapAnonymous(uint64_t bytes) noexcept;
// Frees memory of mapAnonymous. Its pages are released, but the memory stays mapped for the next request of the same
// size.
void unmapOwn(void *memory) noexcept;
// Returns the address of the pointer to the first list entry (abi::OwnMemory), for the collector.
uint64_t listOfOwnMemory() noexcept;

} // namespace msleaks::runtime
