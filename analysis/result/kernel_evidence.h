// Declares the part of a report about kernel evidence (docs/kernel.md).
#pragma once

#include "analysis/base/kernel_collector.h"
#include "analysis/places/site_text.h"

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::inline result {

// One reason why an operation took long.
struct KernelCause {
  std::string kind; // syscall, fault, off-cpu, queue, block, pci, fence
  std::string name; // of the call, or of the thread that ran instead; may be empty
  uint64_t duration_ns = 0, count = 0;
};

// An allocation, a launch, a copy, a fill or a step that took long, and the causes in the kernel.
struct SlowOperation {
  std::string what; // alloc, launch, copy, set, step
  SiteText site;
  uint64_t duration_ns = 0, explained_ns = 0; // the rest is not explained
  std::vector<KernelCause> causes;            // the longest first
  uint64_t time_ns = 0;                       // of its end
  uint32_t pid = 0, tid = 0;
};

struct KernelEvidence {
  std::vector<KernelCollector> collectors;
  std::vector<SlowOperation> slowest; // the longest first
};

} // namespace msleaks::analysis::inline result
