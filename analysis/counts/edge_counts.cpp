#include "analysis/counts/edge_counts.h"

#include <cmath>

namespace msleaks::analysis::inline counts {
namespace {

using abi::EdgeKind;

// Computes the counts of edges: counted ones, and the ones that follow from them. The count of a Leave edge may be
// below 0.
class Flow {
public:
  Flow(const Graph &graph, std::span<const uint64_t> counters)
      : graph_(graph), values_(graph.edges.size()), at_(graph.blocks.size() + 1), unknown_(graph.blocks.size() + 1) {
    for (size_t i = 0; i < graph.edges.size(); ++i) {
      const GraphEdge &edge = graph.edges[i];
      if (edge.counter != abi::kNoCounter)
        values_[i] = edge.counter < counters.size() ? static_cast<int64_t>(counters[edge.counter]) : 0;
      if (edge.from == edge.to)
        continue; // A loop from a block to itself adds to both sums.
      for (const uint32_t node : {edge.from, edge.to}) {
        at_[node].push_back(i);
        unknown_[node] += !values_[i];
      }
    }
    for (uint32_t node = 0; node < at_.size(); ++node)
      settle(node);
  }

  const std::optional<int64_t> &operator[](size_t edge) const { return values_[edge]; }

  // Whether the counts can be true: no count is below 0, and at each node the incoming and outgoing counts are equal.
  bool isPossible() const {
    for (const std::optional<int64_t> &value : values_)
      if (value.value_or(0) < 0)
        return false;
    for (uint32_t node = 0; node < at_.size(); ++node)
      if (unknown_[node] == 0 && balanceOf(node) != 0)
        return false;
    return true;
  }

private:
  // Computes the one unknown edge of a node. Then does the same at the edge's other end, and so on.
  void settle(uint32_t node) {
    while (unknown_[node] == 1) {
      const size_t edge = solve(node);
      const uint32_t other = graph_.edges[edge].from == node ? graph_.edges[edge].to : graph_.edges[edge].from;
      --unknown_[node];
      --unknown_[other];
      node = other;
    }
  }

  size_t solve(uint32_t node) {
    size_t unknown = 0;
    for (const size_t edge : at_[node])
      if (!values_[edge])
        unknown = edge;
    const int64_t balance = balanceOf(node);
    values_[unknown] = graph_.edges[unknown].from == node ? balance : -balance;
    return unknown;
  }

  // Returns the sum of the known incoming edges, less the sum of the known outgoing edges.
  int64_t balanceOf(uint32_t node) const {
    int64_t balance = 0;
    for (const size_t edge : at_[node])
      if (values_[edge])
        balance += graph_.edges[edge].to == node ? *values_[edge] : -*values_[edge];
    return balance;
  }

  const Graph &graph_;
  std::vector<std::optional<int64_t>> values_;
  std::vector<std::vector<size_t>> at_; // by node: its edges
  std::vector<size_t> unknown_;         // by node: number of its edges without a count
};

// Returns the counts of a function whose counters contradict each other. The number of calls stays known if it has a
// counter of its own.
FunctionCounts unseen(const Graph &graph, const Flow &flow) {
  FunctionCounts counts;
  counts.blocks.resize(graph.blocks.size());
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    counts.edges.push_back({flow[i] ? CountState::Unseen : CountState::Uninstrumentable, std::nullopt});
    if (graph.edges[i].kind == EdgeKind::Enter && graph.edges[i].counter != abi::kNoCounter && flow[i])
      counts.calls = static_cast<uint64_t>(*flow[i]);
  }
  return counts;
}

EdgeCount countOf(const GraphEdge &edge, const std::optional<int64_t> &value) {
  if (!value)
    return {};
  if (*value < 0 && edge.kind != EdgeKind::Leave)
    return {CountState::Estimated, 0};
  const CountState state = edge.counter != abi::kNoCounter ? CountState::Measured : CountState::Derived;
  return {state, static_cast<uint64_t>(std::max<int64_t>(*value, 0))};
}

// Returns the sum of edges into each block. If it is not known, returns the sum of edges out of the block.
std::vector<std::optional<uint64_t>> blocksOf(const Graph &graph, const Flow &flow) {
  std::vector<std::optional<int64_t>> in(graph.blocks.size(), 0), out(graph.blocks.size(), 0);
  const auto add = [](std::optional<int64_t> &sum, const std::optional<int64_t> &value) {
    sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
  };
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const GraphEdge &edge = graph.edges[i];
    if (edge.to != 0)
      add(in[edge.to - 1], flow[i]);
    if (edge.from != 0)
      add(out[edge.from - 1], flow[i]);
  }
  std::vector<std::optional<uint64_t>> blocks;
  for (size_t i = 0; i < in.size(); ++i) {
    const auto &count = in[i] ? in[i] : out[i];
    blocks.push_back(count ? std::optional<uint64_t>(std::max<int64_t>(*count, 0)) : std::nullopt);
  }
  return blocks;
}

FunctionCounts solved(const Graph &graph, const Flow &flow) {
  FunctionCounts counts;
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    counts.edges.push_back(countOf(graph.edges[i], flow[i]));
    if (graph.edges[i].kind == EdgeKind::Enter)
      counts.calls = counts.edges.back().count;
  }
  counts.blocks = blocksOf(graph, flow);
  return counts;
}

std::optional<uint64_t> scaled(const std::optional<uint64_t> &count, const Sample &sample) {
  if (count.value_or(0) == 0)
    return std::nullopt;
  return static_cast<uint64_t>(std::llround(static_cast<long double>(*count) * sample.launched / sample.sampled));
}

// Scales the counts of a sample to all threads. A sample with a count of 0 says nothing, because other threads may have
// run the edge.
void scale(FunctionCounts &counts, const Sample &sample) {
  for (EdgeCount &edge : counts.edges) {
    if (edge.state == CountState::Uninstrumentable)
      continue;
    edge.count = sample.sampled != 0 ? scaled(edge.count, sample) : std::nullopt;
    edge.state = edge.count ? CountState::Estimated : CountState::Unseen;
  }
  for (std::optional<uint64_t> &block : counts.blocks)
    block = sample.sampled != 0 ? scaled(block, sample) : std::nullopt;
  if (counts.calls)
    counts.calls = sample.sampled != 0 ? scaled(counts.calls, sample) : std::nullopt;
}

} // namespace

const char *nameOf(CountState state) {
  static constexpr const char *kNames[] = {"measured", "derived", "estimated", "unseen", "uninstrumentable"};
  return kNames[static_cast<size_t>(state)];
}

FunctionCounts countsOf(const Graph &graph, std::span<const uint64_t> counters, const Sample &sample) {
  const Flow flow(graph, counters);
  // The counters of a kernel are read after the kernel has ended. A host may be read while it runs, so its counts may
  // be off by the number of its threads.
  FunctionCounts counts = graph.on_device && !flow.isPossible() ? unseen(graph, flow) : solved(graph, flow);
  if (!sample.isWhole())
    scale(counts, sample);
  return counts;
}

// The estimate of a count is launched × R, where R = Σ count / Σ threads over m groups. The groups are assumed to be
// drawn by chance. The standard error of such a ratio, linearised, is
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
                          ratio * ratio * threads_squared; // below 0 only by rounding
    counts.edges[i].error =
        launched * std::sqrt(left * groups_used / (groups_used - 1) * std::max(0.0, spread)) / threads;
  }
}

} // namespace msleaks::analysis::inline counts
