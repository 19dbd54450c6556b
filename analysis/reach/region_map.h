// What the parts of a process' memory are used for, as far as that can be told from outside.
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
  std::string session;              // files in this folder are msleaks' own
  std::vector<ThreadState> threads; // as far as they are seen
  std::set<uint32_t> live;          // all of them
  OwnStorage own{};                 // of each thread
};

// By address, without gaps in what is mapped: all that may point to a block. What only msleaks uses is left out, and so
// are stacks below their end, those that the C library keeps for later threads, and memory of devices. Reads no page
// that the process has not touched: the kernel would have to make it.
std::vector<MemoryRegion> regionsOf(const ProcessMemory &, const RegionQuestion &);

// How much of it is writable memory, whether it was ever touched or not. Memory of devices does not count.
uint64_t writableBytes(const std::vector<MappedRange> &);

// Whether blocks may lie there.
bool mayHoldBlocks(const MemoryRegion &);

} // namespace msleaks::analysis::inline reach
