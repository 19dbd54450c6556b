// Computes how often each edge and block of a function ran. Only some edges are counted. The other counts follow,
// because what flows into a block also flows out of it.
#pragma once

#include "analysis/counts/graph.h"

#include <optional>

namespace msleaks::analysis::inline counts {

enum class CountState : uint8_t {
  Measured,         // a counter counted it
  Derived,          // computed from other edges
  Estimated,        // scaled from a sample; or the program ended, or was read, inside the function
  Unseen,           // the sample did not meet it; or the counters of a kernel contradict each other
  Uninstrumentable, // it can have no counter, and does not follow from other edges
};
const char *nameOf(CountState);

struct EdgeCount {
  CountState state = CountState::Uninstrumentable;
  std::optional<uint64_t> count; // none: the state is Unseen or Uninstrumentable
  std::optional<double> error{}; // standard error of an estimate; none: not known
};

struct FunctionCounts {
  std::optional<uint64_t> calls;
  std::vector<std::optional<uint64_t>> blocks; // block n is at n - 1
  std::vector<EdgeCount> edges;                // in the order of the graph's edges
};

// On a device, only a share of the threads counts, and the counters contain the counts of this sample. The counts of
// all threads are larger by the factor of threads, which is the same for each edge (docs/kernel-graphs-devices.md). On
// a host, all threads count.
struct Sample {
  uint64_t launched = 0, sampled = 0;
  bool isWhole() const { return launched == sampled; }
  double scale() const {
    return isWhole() || sampled == 0 ? 1 : static_cast<double>(launched) / static_cast<double>(sampled);
  }
};

// `counters` are the counters of the module. A missing counter counts as 0.
FunctionCounts countsOf(const Graph &graph, std::span<const uint64_t> counters, const Sample &sample = {});

// A group of blocks of a kernel's grids that share one bank of counters. The groups of one sample differ from each
// other. This difference tells how far an estimated count may be from the true count (docs/kernel-graphs-devices.md).
struct SampledGroup {
  uint64_t threads = 0;         // threads of the kernel that counted
  std::vector<uint64_t> counts; // in the order of the graph's counters
};

// Sets the standard errors of the edges of `counts`. `counts` are the counts of all groups, scaled by `sample`. Sets
// nothing unless threads counted in two or more groups.
void addErrors(const Graph &graph, std::span<const SampledGroup> groups, const Sample &sample, FunctionCounts &counts);

} // namespace msleaks::analysis::inline counts
