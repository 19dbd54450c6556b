// Allocates anonymous memory for the runtime, and lists this memory for the collector. The memory may contain copies of
// words from the program's stack. The collector must not take these copies for the program's pointers to blocks.
#pragma once

#include <cstdint>

namespace msleaks::runtime {

// Returns memory that is all zeros and aligned to 64 bytes, or null if there is no memory.
void *mapAnonymous(uint64_t bytes) noexcept;
// Frees memory from mapAnonymous. All its pages but the first are released. The addresses stay mapped for the next
// request of the same size.
void unmapOwn(void *memory) noexcept;
// Returns the address of the pointer to the first list entry (abi::OwnMemory), for the collector.
uint64_t listOfOwnMemory() noexcept;

} // namespace msleaks::runtime
