// Tests how the counts of all edges of a graph are computed from the counted edges.
#include "analysis/counts/edge_counts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

using abi::EdgeKind;
using Number = std::optional<uint64_t>;

GraphEdge edge(uint32_t from, uint32_t to, EdgeKind kind = EdgeKind::Branch, uint32_t counter = abi::kNoCounter) {
  GraphEdge made;
  made.from = from;
  made.to = to;
  made.kind = kind;
  made.counter = counter;
  return made;
}

Graph graphOf(size_t blocks, std::vector<GraphEdge> edges) {
  Graph graph;
  graph.blocks.resize(blocks);
  graph.edges = std::move(edges);
  return graph;
}

TEST(EdgeCounts, FollowFromOthers) {
  // A loop with two paths: 1 → 2 → {3, 4} → 5 → {2, 6}.
  const Graph graph =
      graphOf(6, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 2), edge(2, 3, EdgeKind::Branch, 1), edge(2, 4), edge(3, 5),
                  edge(4, 5), edge(5, 2, EdgeKind::Branch, 2), edge(5, 6), edge(6, 0, EdgeKind::Exit)});
  const std::vector<uint64_t> counters{2, 30, 98};
  const FunctionCounts counts = countsOf(graph, counters);
  EXPECT_EQ(counts.calls, 2u);
  EXPECT_EQ(counts.blocks, (std::vector<Number>{2, 100, 30, 70, 100, 2}));
  EXPECT_EQ(counts.edges[3].count, 70u);
  EXPECT_EQ(counts.edges[3].state, CountState::Derived);
  EXPECT_EQ(counts.edges[2].state, CountState::Measured);
}

TEST(EdgeCounts, ABlockThatIsLeftInTheMiddle) {
  // Three of ten calls in block 1 do not return.
  const Graph graph = graphOf(2, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 0, EdgeKind::Leave),
                                  edge(1, 2, EdgeKind::Branch, 1), edge(2, 0, EdgeKind::Exit)});
  const std::vector<uint64_t> counters{10, 7};
  const FunctionCounts counts = countsOf(graph, counters);
  EXPECT_EQ(counts.edges[1].count, 3u);
  EXPECT_EQ(counts.blocks, (std::vector<Number>{10, 7}));
}

TEST(EdgeCounts, ABlockThatIsEnteredAgainInTheMiddle) {
  // Block 1 calls setjmp() once, and the call returns four times.
  const Graph graph = graphOf(2, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 0, EdgeKind::Leave),
                                  edge(1, 2, EdgeKind::Branch, 1), edge(2, 0, EdgeKind::Exit)});
  const std::vector<uint64_t> counters{1, 4};
  const FunctionCounts counts = countsOf(graph, counters);
  EXPECT_EQ(counts.blocks, (std::vector<Number>{1, 4}));
  EXPECT_EQ(counts.edges[3].count, 4u);
  EXPECT_EQ(counts.edges[3].state, CountState::Derived);
}

TEST(EdgeCounts, WhatNothingSaysIsUnknown) {
  GraphEdge unknown = edge(2, 3, EdgeKind::Indirect);
  unknown.is_unknown = true;
  const Graph graph = graphOf(3, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 2), edge(2, 2, EdgeKind::Indirect), unknown,
                                  edge(2, 3, EdgeKind::Indirect), edge(3, 0, EdgeKind::Exit)});
  const std::vector<uint64_t> counters{5};
  const FunctionCounts counts = countsOf(graph, counters);
  EXPECT_EQ(counts.edges[2].count, Number());
  EXPECT_EQ(counts.edges[3].state, CountState::Uninstrumentable);
  EXPECT_EQ(counts.edges[4].count, Number());
  EXPECT_EQ(counts.blocks, (std::vector<Number>{5, Number(), 5}));
}

TEST(EdgeCounts, AReadingInTheMiddleIsNoNumberBelow0) {
  const Graph graph =
      graphOf(1, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 0, EdgeKind::Exit, 1), edge(1, 0, EdgeKind::Exit)});
  const std::vector<uint64_t> counters{1, 3};
  const FunctionCounts counts = countsOf(graph, counters);
  EXPECT_EQ(counts.edges[2].state, CountState::Estimated);
  EXPECT_EQ(counts.edges[2].count, 0u);
}

// No thread leaves a kernel in the middle of a basic block. So if the counters of a kernel contradict each other, they
// are wrong, and the counts of all edges and blocks are unknown.
TEST(EdgeCounts, AKernelsImpossibleNumbersAreUnseen) {
  Graph below = graphOf(2, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 2, EdgeKind::Branch, 1), edge(1, 0, EdgeKind::Exit),
                            edge(2, 0, EdgeKind::Exit)});
  Graph other = graphOf(1, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 0, EdgeKind::Exit, 1)}); // the two counters differ
  for (Graph *graph : {&below, &other}) {
    graph->on_device = true;
    const std::vector<uint64_t> counters{64, 640};
    for (const Sample &sample : {Sample{}, Sample{576, 64}}) {
      const FunctionCounts counts = countsOf(*graph, counters, sample);
      for (const EdgeCount &one : counts.edges) {
        EXPECT_EQ(one.state, CountState::Unseen);
        EXPECT_EQ(one.count, Number());
      }
      EXPECT_EQ(counts.blocks, std::vector<Number>(graph->blocks.size()));
      EXPECT_EQ(counts.calls, sample.isWhole() ? 64u : 576u);
    }
    EXPECT_EQ(countsOf(*graph, std::vector<uint64_t>{64, 65}).edges[0].state, CountState::Unseen) << "one is enough";
    const FunctionCounts counts = countsOf(*graph, std::vector<uint64_t>{64, 64});
    EXPECT_EQ(counts.edges[1].count, 64u);
  }
}

TEST(EdgeCounts, NumbersOf64Bits) {
  constexpr uint64_t kMany = uint64_t{1} << 61;
  const Graph graph =
      graphOf(1, {edge(0, 1, EdgeKind::Enter, 0), edge(1, 1, EdgeKind::Branch, 1), edge(1, 0, EdgeKind::Exit)});
  const std::vector<uint64_t> counters{1'000'000'000'000, kMany};
  EXPECT_EQ(countsOf(graph, counters).blocks, (std::vector<Number>{kMany + 1'000'000'000'000}));
}

// The test walks at random through random graphs, and counts each edge. The counts of the edges outside a spanning tree
// must determine the counts of all other edges.
TEST(EdgeCounts, AnySpanningTreeIsEnough) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const uint32_t blocks = 2 + random() % 12;
    Graph graph = graphOf(blocks, {edge(0, 1, EdgeKind::Enter)});
    for (uint32_t from = 1; from < blocks; ++from) {
      graph.edges.push_back(edge(from, from + 1));
      for (uint32_t more = random() % 3; more > 0; --more)
        graph.edges.push_back(edge(from, 1 + random() % blocks));
    }
    graph.edges.push_back(edge(blocks, 0, EdgeKind::Exit));
    std::vector<uint64_t> truth(graph.edges.size());
    for (int call = 0; call < 20; ++call) {
      ++truth[0];
      for (uint32_t at = 1; at != 0;) {
        std::vector<size_t> ways;
        for (size_t i = 0; i < graph.edges.size(); ++i)
          if (graph.edges[i].from == at && graph.edges[i].kind != EdgeKind::Enter)
            ways.push_back(i);
        const size_t way = ways[random() % ways.size()];
        ++truth[way];
        at = graph.edges[way].to;
      }
    }
    std::vector<uint32_t> groups(blocks + 1);
    for (uint32_t node = 0; node <= blocks; ++node)
      groups[node] = node;
    std::vector<uint64_t> counters;
    for (size_t i = 0; i < graph.edges.size(); ++i) {
      GraphEdge &one = graph.edges[i];
      const uint32_t left = groups[one.from], right = groups[one.to];
      if (left != right) {
        std::ranges::replace(groups, left, right);
        continue;
      }
      one.counter = static_cast<uint32_t>(counters.size());
      counters.push_back(truth[i]);
    }
    const FunctionCounts counts = countsOf(graph, counters);
    for (size_t i = 0; i < truth.size(); ++i)
      ASSERT_EQ(counts.edges[i].count, truth[i]) << "edge " << i << " of round " << round;
  }
}

TEST(EdgeCounts, HaveNames) {
  GraphEdge second = edge(2, 5);
  EXPECT_EQ(nameOf(second), "edge2_5");
  second.ordinal = 2;
  EXPECT_EQ(nameOf(second), "edge2_5.2");
}

} // namespace
} // namespace msleaks::analysis
