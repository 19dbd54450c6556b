// Anonymous memory of the runtime. The collector knows all of it: the runtime keeps words of the program's stack there,
// which must not count as holders of blocks.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

// Returns zeros at a multiple of 64 bytes; null = there is no memory.
void *mapAnonymous(uint64_t bytes) noexcept;
// Gives back memory of mapAnonymous. It stays mapped, without its pages, for the next request of the same size.
void unmapOwn(void *memory) noexcept;
// Returns the begin of the list (abi::OwnMemory), for the collector.
uint64_t listOfOwnMemory() noexcept;

} // namespace msleaks::runtime
