// Tells a process which of its blocks the collector looks at, so that the process itself looks once more just before it
// frees one (abi::LargeBlocks).
#pragma once

#include "msleaks/abi/session.h"

#include <cstdint>

namespace msleaks::analysis {

class LargeBlocks {
public:
  // Null: nobody is told.
  explicit LargeBlocks(abi::LargeBlocks *told) : told_(told) {}

  // Where there are too many, the largest ones stay.
  void add(uint64_t address, uint64_t size, uint64_t time_ns);
  void remove(uint64_t address);

private:
  void tellFilter();

  abi::LargeBlocks *told_;
};

} // namespace msleaks::analysis
