#include "analysis/graphs/sample_error.h"

#include <cmath>

namespace msleaks::analysis {

// The estimate is launched × R, with R = Σ count / Σ threads over m groups: the error of a ratio, linearised, of groups
// that are taken to be drawn by chance.
//
//   launched × sqrt((1 - sampled / launched) × m / (m - 1) × Σ (count - R × threads)²) / Σ threads
void addErrors(const Graph &graph, std::span<const SampledGroup> groups, const Sample &sample, FunctionCounts &counts) {
  struct Sums {
    double count = 0, squares = 0, mixed = 0;
  };
  std::vector<Sums> of_edges(graph.edges.size());
  double threads = 0, threads_squared = 0;
  uint64_t used = 0;
  for (const SampledGroup &group : groups) {
    if (group.threads == 0)
      continue;
    ++used;
    const auto weight = static_cast<double>(group.threads);
    threads += weight;
    threads_squared += weight * weight;
    const FunctionCounts of_group = countsOf(graph, group.counts);
    for (size_t i = 0; i < of_edges.size(); ++i) {
      const auto count = static_cast<double>(of_group.edges[i].count.value_or(0));
      of_edges[i].count += count;
      of_edges[i].squares += count * count;
      of_edges[i].mixed += count * weight;
    }
  }
  if (used < 2 || sample.launched == 0)
    return;
  const auto launched = static_cast<double>(sample.launched), groups_used = static_cast<double>(used);
  const double left = std::max(0.0, 1 - static_cast<double>(sample.sampled) / launched);
  for (size_t i = 0; i < of_edges.size(); ++i) {
    if (counts.edges[i].state != CountState::Estimated)
      continue;
    const double ratio = of_edges[i].count / threads;
    const double spread = of_edges[i].squares - 2 * ratio * of_edges[i].mixed +
                          ratio * ratio * threads_squared; // rounded: may be below 0
    counts.edges[i].error =
        launched * std::sqrt(left * groups_used / (groups_used - 1) * std::max(0.0, spread)) / threads;
  }
}

} // namespace msleaks::analysis
