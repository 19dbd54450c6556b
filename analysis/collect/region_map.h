// What the parts of a process' memory are used for, as far as that can be told from outside.
#pragma once

#include "analysis/collect/process_memory.h"
#include "analysis/collect/stopped_threads.h"
#include "analysis/trace/pointers.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis {

struct RegionQuestion {
  std::string session;              // files in this folder are msleaks' own
  ThreadState waiting;              // the thread that waits; its registers are on its stack
  std::vector<ThreadState> stopped; // the others, as far as they are seen
  std::set<uint32_t> live;          // all of them
};

// By address, without gaps in what is mapped: all that may point to a block. What only msleaks uses is left out, and so
// are stacks below their end, those that the C library keeps for later threads, and memory of devices.
std::vector<MemoryRegion> regionsOf(const ProcessMemory &, const RegionQuestion &);

// How much of it is writable memory, whether it was ever touched or not. Memory of devices does not count.
uint64_t writableBytes(const std::vector<MappedRange> &);

// Whether blocks may lie there.
bool mayHoldBlocks(const MemoryRegion &);

} // namespace msleaks::analysis
