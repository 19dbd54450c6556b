#include "analysis/analyzers/peak.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace msleaks::analysis {

namespace {

Block block(uint32_t cohort, uint64_t size, abi::Heap heap = abi::Heap::Host, uint32_t process = 1) {
  Block block;
  block.address = 1;
  block.size = size;
  block.cohort = CohortId{cohort};
  block.heap = heap;
  block.process = process;
  return block;
}

// A simple model of the tested class: it copies all sums at each new peak.
struct NaivePeak {
  std::map<uint32_t, BlockSum> now, at_peak;
  uint64_t bytes = 0, peak = 0, time_ns = 0;
  void add(uint32_t site, uint64_t size, uint64_t time) {
    now[site].bytes += size;
    ++now[site].count;
    bytes += size;
    if (bytes > peak) {
      peak = bytes;
      time_ns = time;
      at_peak = now;
    }
  }
  void remove(uint32_t site, uint64_t size) {
    now[site].bytes -= size;
    --now[site].count;
    bytes -= size;
  }
  std::vector<CohortShare> shares() const {
    std::vector<CohortShare> list;
    for (const auto &[site, sum] : at_peak)
      if (sum.count != 0)
        list.push_back({CohortId{site}, sum.bytes, sum.count});
    return list;
  }
};

} // namespace

TEST(Peak, SaysWhatWasAliveAtTheHighestPoint) {
  PeakAnalyzer peak;
  peak.onAlloc(block(1, 100), AllocCause::Allocated, 10);
  peak.onAlloc(block(2, 50), AllocCause::Allocated, 20);
  peak.onFree(block(1, 100), FreeCause::Freed, 30);
  peak.onAlloc(block(3, 90), AllocCause::Allocated, 40); // 140 bytes: below the peak
  const auto result = peak.result().total;
  EXPECT_EQ(result.bytes, 150u);
  EXPECT_EQ(result.time_ns, 20u);
  EXPECT_EQ(result.by_cohort, (std::vector<CohortShare>{{CohortId{1}, 100, 1}, {CohortId{2}, 50, 1}}));
}

TEST(Peak, KeepsTheFirstOfEqualHighs) {
  PeakAnalyzer peak;
  peak.onAlloc(block(1, 100), AllocCause::Allocated, 10);
  peak.onFree(block(1, 100), FreeCause::Freed, 20);
  peak.onAlloc(block(2, 100), AllocCause::Allocated, 30);
  EXPECT_EQ(peak.result().total.time_ns, 10u);
  EXPECT_EQ(peak.result().total.by_cohort, (std::vector<CohortShare>{{CohortId{1}, 100, 1}}));
}

TEST(Peak, HeapsAndProcessesHaveTheirOwn) {
  PeakAnalyzer peak;
  peak.onAlloc(block(1, 100, abi::Heap::Host, 1), AllocCause::Allocated, 1);
  peak.onAlloc(block(2, 70, abi::Heap::Pool, 1), AllocCause::Allocated, 2);
  peak.onFree(block(1, 100, abi::Heap::Host, 1), FreeCause::Freed, 3);
  peak.onAlloc(block(3, 120, abi::Heap::Device, 2), AllocCause::Allocated, 4);
  Block reserved = block(4, 1 << 30, abi::Heap::Mapping);
  reserved.reserve = 1;
  peak.onAlloc(reserved, AllocCause::Allocated, 5);
  const auto result = peak.result();
  EXPECT_EQ(result.total.bytes, 120u); // neither parts of other blocks (Pool) nor reserved space count
  EXPECT_EQ(result.by_heap[static_cast<size_t>(abi::Heap::Host)].bytes, 100u);
  EXPECT_EQ(result.by_heap[static_cast<size_t>(abi::Heap::Pool)].bytes, 70u);
  EXPECT_EQ(result.by_heap[static_cast<size_t>(abi::Heap::Mapping)].bytes, 0u);
  ASSERT_EQ(result.by_process.size(), 2u);
  EXPECT_EQ(result.by_process[0].bytes, 100u);
  EXPECT_EQ(result.by_process[1].bytes, 120u);
  EXPECT_EQ(result.by_process[1].time_ns, 4u);
}

TEST(Peak, EachDeviceHasItsOwn) {
  PeakAnalyzer peak;
  const auto onDevice = [](uint8_t device, uint32_t cohort, uint64_t size) {
    Block of = block(cohort, size, abi::Heap::Device);
    of.device = device;
    return of;
  };
  peak.onAlloc(onDevice(0, 1, 100), AllocCause::Allocated, 1);
  peak.onAlloc(onDevice(1, 2, 1000), AllocCause::Allocated, 2);
  peak.onFree(onDevice(0, 1, 100), FreeCause::Freed, 3);
  peak.onAlloc(onDevice(0, 3, 70), AllocCause::Allocated, 4);
  const auto result = peak.result();
  ASSERT_EQ(result.by_account.size(), 2u);
  const Peak &first = result.by_account.at({abi::Heap::Device, 0});
  const Peak &second = result.by_account.at({abi::Heap::Device, 1});
  EXPECT_EQ(first.bytes, 100u);
  EXPECT_EQ(first.time_ns, 1u);
  EXPECT_EQ(first.by_cohort, (std::vector<CohortShare>{{CohortId{1}, 100, 1}}));
  EXPECT_EQ(second.bytes, 1000u);
  EXPECT_EQ(result.by_heap[static_cast<size_t>(abi::Heap::Device)].bytes, 1100u);
}

// The peak is reached by an allocation inside a wrapper. Only a later event attributes the block to the wrapper's
// caller. The result must name this caller.
TEST(Peak, NamesTheSiteThatABlockIsRetargetedTo) {
  PeakAnalyzer peak;
  const auto add = [&](Block of, uint64_t time_ns) {
    of.time_ns = time_ns;
    peak.onAlloc(of, AllocCause::Allocated, time_ns);
    return of;
  };
  const auto retarget = [&](Block of, uint32_t to, uint64_t time_ns) {
    const Block before = of;
    of.cohort = CohortId{to};
    peak.onRetarget(of, before, time_ns);
    return of;
  };
  add(block(1, 50), 10);
  const Block wrapped = retarget(add(block(1, 100), 20), 7, 21);
  EXPECT_EQ(peak.result().total.time_ns, 20u);
  EXPECT_EQ(peak.result().total.by_cohort, (std::vector<CohortShare>{{CohortId{1}, 50, 1}, {CohortId{7}, 100, 1}}));
  EXPECT_EQ(peak.result().by_heap[0].by_cohort, peak.result().total.by_cohort);

  peak.onFree(wrapped, FreeCause::Freed, 30);
  retarget(add(block(1, 60), 40), 9, 41); // this block was not alive at the peak
  EXPECT_EQ(peak.result().total.by_cohort, (std::vector<CohortShare>{{CohortId{1}, 50, 1}, {CohortId{7}, 100, 1}}));
}

TEST(Peak, NothingAtAll) {
  const PeakAnalyzer peak;
  EXPECT_EQ(peak.result().total.bytes, 0u);
  EXPECT_TRUE(peak.result().total.by_cohort.empty());
  EXPECT_TRUE(peak.result().by_process.empty());
}

class PeakModel : public testing::TestWithParam<uint64_t> {};

TEST_P(PeakModel, LazyCopiesEqualFullCopies) {
  std::mt19937_64 random(GetParam());
  const auto pick = [&](uint64_t high) { return random() % high; };
  PeakTracker tracker;
  NaivePeak naive;
  std::vector<std::pair<uint32_t, uint64_t>> live;
  for (uint64_t time = 1; time < 20000; ++time) {
    // Phases of growth and of shrinking alternate. So there are many new peaks, and times without a new peak.
    const bool grow = live.empty() || pick(100) < (time / 1000 % 2 ? 40 : 58);
    if (grow) {
      live.emplace_back(static_cast<uint32_t>(pick(37)), pick(1000));
      tracker.add(CohortId{live.back().first}, live.back().second, time);
      naive.add(live.back().first, live.back().second, time);
    } else {
      std::swap(live[pick(live.size())], live.back());
      tracker.remove(CohortId{live.back().first}, live.back().second);
      naive.remove(live.back().first, live.back().second);
      live.pop_back();
    }
    if (time % 97 == 0) {
      const Peak peak = tracker.peak();
      ASSERT_EQ(peak.bytes, naive.peak);
      ASSERT_EQ(peak.time_ns, naive.time_ns);
      ASSERT_EQ(peak.by_cohort, naive.shares());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PeakModel, testing::Values(1, 2, 3, 4));

} // namespace msleaks::analysis
