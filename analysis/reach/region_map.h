// Finds out what the parts of a process' memory are used for, as far as this is visible from outside.
#pragma once

#include "analysis/reach/arena_reader.h"
#include "analysis/reach/process_memory.h"
#include "analysis/reach/stopped_threads.h"
#include "analysis/trace/pointers.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline reach {

struct RegionQuestion {
  std::string session;              // folder of the session: its files belong to msleaks
  std::vector<ThreadState> threads; // threads whose registers are known
  std::set<uint32_t> live;          // tids of all threads
  OwnStorage own{};                 // the runtime's storage
};

// Returns all memory that may contain pointers to blocks, sorted by address. Each region is completely mapped. Memory
// that only msleaks uses is left out. So are unused parts of stacks, stacks that the C library keeps for later threads,
// and memory of devices. Reads no page that the process has not touched, because the kernel would have to create the
// page.
std::vector<MemoryRegion> regionsOf(const ProcessMemory &, const RegionQuestion &);

// Returns how much writable memory the ranges have, touched or not. Memory of devices does not count.
uint64_t writableBytes(const std::vector<MappedRange> &);

// Whether the region may contain blocks.
bool mayHoldBlocks(const MemoryRegion &);

} // namespace msleaks::analysis::inline reach
