// Anonymous memory of the runtime's own. The collector knows all of it: what the runtime remembers of the program, such
// as words of its stack, must not count as what holds a block.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

// All zeros, at a multiple of 64 bytes; null = there is none.
void *mapAnonymous(uint64_t bytes) noexcept;
// Gives back memory of mapAnonymous. It stays mapped, without its pages, for the next request of the same size.
void unmapOwn(void *memory) noexcept;
// Where the list of it begins (abi::OwnMemory), for the collector.
uint64_t listOfOwnMemory() noexcept;

} // namespace msleaks::runtime
