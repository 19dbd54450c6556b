// Tells a process which of its blocks the collector looks at. The process itself looks at such a block again just
// before it frees it (abi::LargeBlocks).
#pragma once

#include "msleaks/abi/session.h"

#include <cstdint>

namespace msleaks::analysis::inline reach {

class ToldBlocks {
public:
  // Null: the process is not told.
  explicit ToldBlocks(abi::LargeBlocks *told) : told_(told) {}

  // If there are too many large blocks, the largest are kept.
  void add(uint64_t address, uint64_t size, uint64_t time_ns);
  void remove(uint64_t address);
  // If two sampled blocks have the same entry, the later one is kept.
  void addSample(uint64_t address, uint64_t size, uint64_t time_ns);
  void removeSample(uint64_t address);

private:
  void removeFrom(abi::LargeBlock &entry, uint64_t address);
  void tellFilter();

  abi::LargeBlocks *told_;
};

} // namespace msleaks::analysis::inline reach
