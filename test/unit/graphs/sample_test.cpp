// Tests how well the counts of a sample of threads represent all threads of a kernel. The tests apply the modes of
// abi/device_counts.h to simulated kernels, and compare the scaled counts with the full counts.
#include "analysis/counts/edge_counts.h"

#include "msleaks/abi/device_counts.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using abi::CountMode;
using abi::EdgeKind;

constexpr uint32_t kWave = 64, kStrataMask = 63, kBanks = 64;

struct Thread {
  uint64_t block, number, blocks, threads; // `threads` is the number of threads in a thread block
  uint64_t global() const { return block * threads + number; }
};

// How often a thread takes each of the two branches in the loop.
struct Ways {
  uint64_t taken, left;
};
using Kernel = std::function<Ways(const Thread &)>;

// Returns the graph of a kernel with a loop: 1 → 2 → {3 (taken), 4 (left)} → 5 → {2, 6}. Basic block 6 returns.
Graph loopGraph() {
  Graph graph;
  graph.is_kernel = true;
  graph.blocks.resize(6);
  const auto edge = [&](uint32_t from, uint32_t to, EdgeKind kind, uint32_t counter = abi::kNoCounter) {
    graph.edges.push_back({from, to, 1, kind, false, counter, 0});
  };
  edge(0, 1, EdgeKind::Enter);
  edge(1, 2, EdgeKind::Branch);
  edge(2, 3, EdgeKind::Branch, 0);
  edge(2, 4, EdgeKind::Branch);
  edge(3, 5, EdgeKind::Branch);
  edge(4, 5, EdgeKind::Branch);
  edge(5, 2, EdgeKind::Branch, 1);
  edge(5, 6, EdgeKind::Branch);
  edge(6, 0, EdgeKind::Exit, 2);
  return graph;
}
constexpr size_t kTaken = 2, kLeft = 3, kOut = 7;

class Launch {
public:
  Launch(uint64_t blocks, uint64_t threads, uint64_t last, Kernel kernel)
      : blocks_(blocks), threads_(threads), last_(last), kernel_(std::move(kernel)) {}

  FunctionCounts count(CountMode mode) const {
    std::vector<uint64_t> counters(3);
    const std::vector<SampledGroup> banks = groups(mode);
    for (const SampledGroup &bank : banks)
      for (size_t i = 0; i < counters.size(); ++i)
        counters[i] += bank.counts[i];
    const Sample sample{(blocks_ - 1) * threads_ + last_, counters[2]};
    FunctionCounts counts = countsOf(loopGraph(), counters, sample);
    addErrors(loopGraph(), banks, sample, counts);
    return counts;
  }

  // Returns the counts of the sampled threads, added up for each bank. A bank contains every kBanks-th thread block.
  std::vector<SampledGroup> groups(CountMode mode) const {
    std::vector<SampledGroup> banks(kBanks, {0, std::vector<uint64_t>(3)});
    for (uint64_t block = 0; block < blocks_; ++block)
      for (uint64_t number = 0; number < threadsOf(block); ++number)
        if (abi::counts({{block, 0, 0}, {blocks_, 1, 1}, number, threadsOf(block)}, mode, kWave, kStrataMask)) {
          const Ways ways = kernel_({block, number, blocks_, threads_});
          SampledGroup &bank = banks[block % kBanks];
          bank.counts[0] += ways.taken;
          bank.counts[1] += ways.taken + ways.left - 1; // the edge back to the loop's head
          bank.threads = ++bank.counts[2];
        }
    return banks;
  }

  // Returns the error of the scaled count, as a fraction of the full count.
  double error(CountMode mode, size_t edge) const {
    const uint64_t full = *count(CountMode::Full).edges[edge].count;
    const EdgeCount sampled = count(mode).edges[edge];
    EXPECT_EQ(sampled.state, sampled.count ? CountState::Estimated : CountState::Unseen);
    return static_cast<double>(sampled.count.value_or(0)) / static_cast<double>(full) - 1;
  }

  // Returns the error that the count would have if it were scaled by the number of waves in a thread block. This scale
  // is right for counts of waves, but wrong for counts of threads.
  double errorByWaves(size_t edge) const { return errorByWaves(edge, centre()); }
  // Returns the same error if the sample were wave number `threads_ / kWave / 2`. This wave is always full.
  double errorByFloorWave(size_t edge) const { return errorByWaves(edge, threads_ / kWave / 2); }

private:
  double errorByWaves(size_t edge, uint64_t wave) const {
    const double waves = std::ceil(static_cast<double>(threads_) / kWave);
    const double threads = waves * static_cast<double>(std::min<uint64_t>(kWave, threads_ - wave * kWave));
    return (1 + error(CountMode::Wavefront, edge)) * threads / static_cast<double>(threads_) - 1;
  }
  uint64_t threadsOf(uint64_t block) const { return block + 1 == blocks_ ? last_ : threads_; }
  uint64_t centre() const { return (threads_ + kWave - 1) / kWave / 2; }

  uint64_t blocks_, threads_, last_; // last_: number of threads in the last thread block
  Kernel kernel_;
};

Launch launchOf(uint64_t blocks, uint64_t threads, Kernel kernel) {
  return {blocks, threads, threads, std::move(kernel)};
}

Kernel saxpy(uint64_t n) {
  return [n](const Thread &thread) { return thread.global() < n ? Ways{1, 0} : Ways{0, 1}; };
}

Ways collatz(const Thread &thread) {
  Ways ways{0, 1};
  for (uint64_t value = thread.global() + 1; value > 1; value = value % 2 != 0 ? 3 * value + 1 : value / 2)
    ++(value % 2 != 0 ? ways.taken : ways.left);
  return ways;
}

Ways reduce(const Thread &thread) {
  Ways ways{0, 0};
  for (uint64_t k = thread.threads / 2; k > 0; k /= 2)
    ++(thread.number < k ? ways.taken : ways.left);
  return ways;
}

} // namespace

TEST(Sample, OfEqualThreadsIsExact) {
  for (const uint64_t threads : {64, 96, 100, 128, 256, 320, 1024})
    for (const CountMode mode : {CountMode::Cta, CountMode::Wavefront, CountMode::Strata}) {
      const Launch launch = launchOf(333, threads, saxpy(UINT64_MAX));
      EXPECT_NEAR(launch.error(mode, kTaken), 0, 1e-6) << threads;
      EXPECT_NEAR(launch.error(mode, kOut), 0, 1e-6) << threads;
    }
  EXPECT_NEAR(Launch(334, 100, 7, saxpy(UINT64_MAX)).error(CountMode::Cta, kTaken), 0, 1e-6);
}

TEST(Sample, CountsThreadsNotWaves) {
  EXPECT_NEAR(launchOf(256, 256, saxpy(UINT64_MAX)).errorByWaves(kTaken), 0, 1e-3);
  EXPECT_NEAR(launchOf(256, 96, saxpy(UINT64_MAX)).errorByWaves(kTaken), -0.333, 1e-3);
  EXPECT_NEAR(launchOf(256, 96, saxpy(UINT64_MAX)).errorByFloorWave(kTaken), 0.333, 1e-3);
  EXPECT_NEAR(launchOf(256, 100, saxpy(UINT64_MAX)).errorByWaves(kTaken), -0.280, 1e-3);
}

TEST(Sample, MissesTheEndOfTheGrid) {
  const Launch launch = launchOf(256, 256, saxpy(60000));
  for (const CountMode mode : {CountMode::Cta, CountMode::Wavefront}) {
    EXPECT_NEAR(launch.error(mode, kTaken), 0.092, 1e-3);
    EXPECT_EQ(launch.count(mode).edges[kLeft].state, CountState::Unseen);
    EXPECT_EQ(launch.count(mode).edges[kLeft].count, std::nullopt);
    EXPECT_EQ(launch.count(mode).blocks[3], std::nullopt);
  }
  EXPECT_EQ(launch.count(CountMode::Strata).edges[kLeft].state, CountState::Estimated);
}

TEST(Sample, OfDataIsSomewhereNear) {
  const Launch launch = launchOf(256, 256, collatz);
  for (const CountMode mode : {CountMode::Cta, CountMode::Wavefront, CountMode::Strata})
    for (const size_t edge : {kTaken, kLeft})
      EXPECT_LT(std::abs(launch.error(mode, edge)), 0.25);
  const Launch small = launchOf(64, 256, collatz);
  EXPECT_NEAR(small.error(CountMode::Cta, kTaken), 0.121, 1e-3);
  EXPECT_NEAR(small.error(CountMode::Cta, kLeft), 0.102, 1e-3);
  EXPECT_NEAR(small.error(CountMode::Wavefront, kTaken), 0.169, 1e-3);
  EXPECT_NEAR(small.error(CountMode::Wavefront, kLeft), 0.139, 1e-3);
}

// The mode Wavefront samples the wave in the middle of a thread block. Here this wave contains the upper half of the
// threads, which never take the branch.
TEST(Sample, OfOneWaveIsWrongWhereWavesHaveRoles) {
  const Launch launch = launchOf(64, 128, reduce);
  EXPECT_NEAR(launch.error(CountMode::Cta, kTaken), 0, 1e-6);
  EXPECT_NEAR(launch.error(CountMode::Cta, kLeft), 0, 1e-6);
  EXPECT_EQ(launch.count(CountMode::Wavefront).edges[kTaken].state, CountState::Unseen);
  EXPECT_NEAR(launch.error(CountMode::Wavefront, kLeft), 0.165, 1e-3);
}

// The expected numbers are computed by hand. In one group of 10 threads, each thread took the edge 1 → 1 twice. In a
// second group of 10, each took it four times. The other 80 threads of the launch were not sampled.
TEST(SampleError, IsTheSpreadOfGroups) {
  Graph graph;
  graph.blocks.resize(1);
  graph.edges = {{0, 1, 1, EdgeKind::Enter, false, 0, 0},
                 {1, 1, 1, EdgeKind::Branch, false, 1, 0},
                 {1, 0, 1, EdgeKind::Exit, false, abi::kNoCounter, 0}};
  const std::vector<SampledGroup> groups = {{10, {10, 20}}, {10, {10, 40}}, {0, {0, 0}}};
  const Sample sample{100, 20};
  FunctionCounts counts = countsOf(graph, std::vector<uint64_t>{20, 60}, sample);
  addErrors(graph, groups, sample, counts);
  EXPECT_EQ(counts.edges[1].count, 300u);
  EXPECT_NEAR(counts.edges[1].error.value_or(-1), 100 * std::sqrt(0.8 * 2 * 200) / 20, 1e-9);
  EXPECT_NEAR(counts.edges[0].error.value_or(-1), 0, 1e-9) << "each thread comes in once";
}

TEST(SampleError, OfOneBlockIsNotKnown) {
  for (const CountMode mode : {CountMode::Cta, CountMode::Wavefront})
    EXPECT_EQ(launchOf(256, 256, collatz).count(mode).edges[kTaken].error, std::nullopt);
  EXPECT_EQ(launchOf(256, 256, collatz).count(CountMode::Full).edges[kTaken].error, std::nullopt)
      << "nothing is estimated";
}

// The sampled count may differ from the true count by at most three standard errors plus 1. The standard error must be
// less than half of the true count.
TEST(SampleError, HoldsTheTruth) {
  for (const uint64_t blocks : {300, 1000, 3000})
    for (const size_t edge : {kTaken, kLeft, kOut}) {
      const Launch launch = launchOf(blocks, 64, collatz);
      const EdgeCount sampled = launch.count(CountMode::Strata).edges[edge];
      const auto truth = static_cast<double>(*launch.count(CountMode::Full).edges[edge].count);
      ASSERT_TRUE(sampled.error && sampled.count);
      EXPECT_LE(std::abs(static_cast<double>(*sampled.count) - truth), 3 * *sampled.error + 1) << blocks;
      EXPECT_LT(*sampled.error, truth / 2) << blocks;
    }
  EXPECT_NEAR(launchOf(1000, 64, saxpy(UINT64_MAX)).count(CountMode::Strata).edges[kTaken].error.value_or(-1), 0, 1e-3);
}

TEST(Sample, OfAllIsNoEstimate) {
  const FunctionCounts counts = launchOf(3, 100, saxpy(150)).count(CountMode::Full);
  EXPECT_EQ(counts.edges[kTaken].state, CountState::Measured);
  EXPECT_EQ(counts.edges[kTaken].count, 150u);
  EXPECT_EQ(counts.edges[kLeft].state, CountState::Derived);
  EXPECT_EQ(counts.edges[kLeft].count, 150u);
  EXPECT_EQ(counts.calls, 300u);
}

TEST(Sample, OfNothingSaysNothing) {
  const FunctionCounts counts = countsOf(loopGraph(), std::vector<uint64_t>(3), {1000, 0});
  for (const EdgeCount &edge : counts.edges)
    EXPECT_EQ(edge.state, CountState::Unseen);
  EXPECT_EQ(counts.calls, std::nullopt);
}

// The counts of a billion launches need 64 bits. Scaling such counts must not overflow.
TEST(Sample, ScalesLargeCounts) {
  const FunctionCounts counts = countsOf(loopGraph(), std::vector<uint64_t>{uint64_t{1} << 52, 0, uint64_t{1} << 52},
                                         {uint64_t{1} << 62, uint64_t{1} << 52});
  EXPECT_EQ(counts.edges[kTaken].count, uint64_t{1} << 62);
}

} // namespace msleaks::analysis
