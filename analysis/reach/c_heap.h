// Finds the memory from which glibc's malloc takes blocks: the main arena ("[heap]") and the arenas of threads.
#pragma once

#include "analysis/reach/process_memory.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline reach {

// Every part of an arena except the main one begins at a multiple of this number.
inline constexpr uint64_t kArenaPartBytes = 64 << 20;

// The first four words of a part of an arena.
struct ArenaPart {
  uint64_t state = 0;      // address of the arena's state, which lies in the arena's first part
  uint64_t before = 0;     // the part before this one; 0 = this is the first
  uint64_t bytes = 0;      // bytes in use by the arena
  uint64_t accessible = 0; // bytes that the process may access
};
// Returns the part that begins at this address, if there is one. Reads no page that the process has not touched.
std::optional<ArenaPart> arenaPartAt(const ProcessMemory &, uint64_t address);

struct HeapPart {
  uint64_t begin = 0, end = 0; // both are multiples of the page size
  bool is_main = false;
};
// Returns the parts of glibc's heap, sorted by address. The end of an arena that malloc_trim() never gives back is left
// out. Empty: the process does not use glibc's malloc, or its memory cannot be read.
std::vector<HeapPart> heapPartsOf(const ProcessMemory &, const std::vector<MappedRange> &maps);

} // namespace msleaks::analysis::inline reach
