// Reads the counters of a process (abi/counts_file.h), also while the process still counts.
#pragma once

#include "analysis/counts/graph.h"
#include "msleaks/abi/counts_file.h"

#include <filesystem>

namespace msleaks::analysis::inline counts {

struct CountedModule {
  GraphModule module;
  std::vector<uint64_t> counts;               // by counter: the sum over all threads
  std::vector<std::vector<uint64_t>> banks{}; // the same numbers for each bank, if the module has kernels
  std::vector<abi::CountedLaunches> launches;
};

// If a kill or a full disk cut the file off, reads the part that exists. BadInput: the bytes are no file of counts, or
// one of its tables is damaged.
Result<std::vector<CountedModule>> readCounts(std::span<const std::byte> bytes);
Result<std::vector<CountedModule>> readCountsFile(const std::filesystem::path &path);

} // namespace msleaks::analysis::inline counts
