// Whether a stopped thread is between allocations. In the middle of an allocation, the trace does not show which blocks
// the thread has.
#pragma once

#include "analysis/reach/arena_reader.h"
#include "analysis/reach/process_memory.h"
#include "analysis/reach/stopped_threads.h"

#include <vector>

namespace msleaks::analysis::inline reach {

class BetweenAllocations {
public:
  BetweenAllocations(const ProcessMemory &, const OwnStorage &);
  bool operator()(const ThreadState &) const;

private:
  const ProcessMemory *memory_;
  OwnStorage own_;
  std::vector<MappedRange> code_; // code of msleaks' libraries
};

} // namespace msleaks::analysis::inline reach
