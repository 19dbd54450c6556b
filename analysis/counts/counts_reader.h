// What a process has counted (abi/counts_file.h), also while it goes on counting.
#pragma once

#include "analysis/counts/graph.h"
#include "msleaks/abi/counts_file.h"

#include <filesystem>

namespace msleaks::analysis::inline counts {

struct CountedModule {
  GraphModule module;
  std::vector<uint64_t> counts;               // by counter, of all threads
  std::vector<std::vector<uint64_t>> banks{}; // the same of each bank, if it has kernels
  std::vector<abi::CountedLaunches> launches;
};

// Takes what is there of a file that was cut off, by a kill or a full disk. BadInput: it is no such file, or one of its
// tables is damaged.
Result<std::vector<CountedModule>> readCounts(std::span<const std::byte> bytes);
Result<std::vector<CountedModule>> readCountsFile(const std::filesystem::path &path);

} // namespace msleaks::analysis::inline counts
