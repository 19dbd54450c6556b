// How often each edge and block of a function ran: what was counted, and what follows from it, since what flows into a
// block flows out of it.
#pragma once

#include "analysis/counts/graph.h"

#include <optional>

namespace msleaks::analysis::inline counts {

enum class CountState : uint8_t {
  Measured,         // by a counter
  Derived,          // from others
  Estimated,        // from a sample; or the program ended, or was read, in the middle
  Unseen,           // not in the sample; or the counters of a kernel contradict each other
  Uninstrumentable, // it can have no counter, and nothing says what it is
};
const char *nameOf(CountState);

struct EdgeCount {
  CountState state = CountState::Uninstrumentable;
  std::optional<uint64_t> count; // none: Unseen, Uninstrumentable
  std::optional<double> error{}; // standard error of an estimate; none: not known
};

struct FunctionCounts {
  std::optional<uint64_t> calls;
  std::vector<std::optional<uint64_t>> blocks; // by number - 1
  std::vector<EdgeCount> edges;                // as the graph's
};

// The share of a device's threads that counted. Counts are those of the sample. The whole is larger by the factor of
// threads, the same for each edge (docs/kernel-graphs-devices.md). A host counts all that runs.
struct Sample {
  uint64_t launched = 0, sampled = 0;
  bool isWhole() const { return launched == sampled; }
  double scale() const {
    return isWhole() || sampled == 0 ? 1 : static_cast<double>(launched) / static_cast<double>(sampled);
  }
};

// `counters`: of the module. One that is not there counted 0.
FunctionCounts countsOf(const Graph &graph, std::span<const uint64_t> counters, const Sample &sample = {});

// How far an estimated count may be from what ran, as far as the sample says so: by how much groups of blocks of
// threads differ in it (docs/kernel-graphs-devices.md).

// Blocks of a kernel's grids that count together: a bank of its counters.
struct SampledGroup {
  uint64_t threads = 0;         // of the kernel, that counted
  std::vector<uint64_t> counts; // as the graph's counters are numbered
};

// Sets the standard errors of the edges of `counts`, which are those of all groups, scaled by `sample`. Needs two
// groups or more in which threads counted.
void addErrors(const Graph &graph, std::span<const SampledGroup> groups, const Sample &sample, FunctionCounts &counts);

} // namespace msleaks::analysis::inline counts
