// How far an estimated count may be from what ran, as far as the sample says so: by how much groups of blocks of
// threads differ in it (docs/kernel-graphs-devices.md).
#pragma once

#include "analysis/graphs/edge_counts.h"

namespace msleaks::analysis {

// Blocks of a kernel's grids that count together: a bank of its counters.
struct SampledGroup {
  uint64_t threads = 0;         // of the kernel, that counted
  std::vector<uint64_t> counts; // as the graph's counters are numbered
};

// Sets the standard errors of the edges of `counts`, which are those of all groups, scaled by `sample`. Needs two
// groups or more in which threads counted.
void addErrors(const Graph &graph, std::span<const SampledGroup> groups, const Sample &sample, FunctionCounts &counts);

} // namespace msleaks::analysis
