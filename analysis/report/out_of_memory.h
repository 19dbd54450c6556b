// The live blocks of a program when it was refused memory, or when it was killed: the answer of `msleaks oom`
// (docs/analyses.md).
#pragma once

#include "analysis/report/report.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis {

// A call of an allocator that said no.
struct RefusedCall {
  uint64_t bytes = 0;  // asked for
  uint64_t status = 0; // the API's own error number
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint64_t time_ns = 0;
  uint32_t pid = 0, tid = 0;
  std::vector<SiteLine> place; // one line; none when the place is not known
};

struct AliveBlock {
  uint64_t bytes = 0, age_ns = 0;
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint32_t pid = 0;
  SiteText place;
};

// The largest piece that nothing alive lies in.
struct Hole {
  std::optional<uint64_t> bytes;
  std::string unknown; // why it is not known
};

struct OutOfMemory {
  std::optional<RefusedCall> refused;  // the last one of those that nothing made up for
  uint64_t refusals = 0, answered = 0; // in the whole run
  std::vector<AliveBlock> largest, oldest;
  std::optional<Hole> hole; // where something was refused
  Report report;            // of the run up to that moment, of that process; else of the whole run
};

// `most`: blocks in each list.
Result<OutOfMemory> analyzeOutOfMemory(const std::filesystem::path &run, size_t most, const Progress &progress = {});

// The findings to try first: those that save memory.
std::vector<Finding> savingFindings(const Report &);

void writeOutOfMemoryJson(std::ostream &, const OutOfMemory &);
void writeOutOfMemoryText(std::ostream &, const OutOfMemory &, const TableStyle &);

} // namespace msleaks::analysis
