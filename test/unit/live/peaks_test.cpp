#include "analysis/live/peaks.h"

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

TEST(Peaks, SaysWhatWasAliveAtTheHighestPoint) {
  Peaks peaks;
  peaks.onAlloc(block(1, 100), AllocCause::Allocated, 10);
  peaks.onAlloc(block(2, 50), AllocCause::Allocated, 20);
  peaks.onFree(block(1, 100), FreeCause::Freed, 30);
  peaks.onAlloc(block(3, 90), AllocCause::Allocated, 40); // 140 bytes: below the peak
  EXPECT_EQ(peaks.physical().clock().bytes(), 150u);
  EXPECT_EQ(peaks.physical().clock().timeNs(), 20u);
  EXPECT_EQ(peaks.physical().shares(), (std::vector<CohortShare>{{CohortId{1}, 100, 1}, {CohortId{2}, 50, 1}}));
}

TEST(Peaks, KeepsTheFirstOfEqualHighs) {
  Peaks peaks;
  peaks.onAlloc(block(1, 100), AllocCause::Allocated, 10);
  peaks.onFree(block(1, 100), FreeCause::Freed, 20);
  peaks.onAlloc(block(2, 100), AllocCause::Allocated, 30);
  EXPECT_EQ(peaks.physical().clock().timeNs(), 10u);
  EXPECT_EQ(peaks.physical().shares(), (std::vector<CohortShare>{{CohortId{1}, 100, 1}}));
}

TEST(Peaks, HeapsAndProcessesHaveTheirOwn) {
  Peaks peaks;
  peaks.onAlloc(block(1, 100, abi::Heap::Host, 1), AllocCause::Allocated, 1);
  peaks.onAlloc(block(2, 70, abi::Heap::Pool, 1), AllocCause::Allocated, 2);
  peaks.onFree(block(1, 100, abi::Heap::Host, 1), FreeCause::Freed, 3);
  peaks.onAlloc(block(3, 120, abi::Heap::Device, 2), AllocCause::Allocated, 4);
  Block reserved = block(4, 1 << 30, abi::Heap::Mapping);
  reserved.reserve = 1;
  peaks.onAlloc(reserved, AllocCause::Allocated, 5);
  EXPECT_EQ(peaks.physical().clock().bytes(), 120u); // neither parts of other blocks (Pool) nor reserved space count
  EXPECT_EQ(peaks.of(abi::Heap::Host).clock().bytes(), 100u);
  EXPECT_EQ(peaks.of(abi::Heap::Pool).clock().bytes(), 70u);
  EXPECT_EQ(peaks.of(abi::Heap::Mapping).clock().bytes(), 0u);
  ASSERT_EQ(peaks.processes().size(), 2u);
  EXPECT_EQ(peaks.processes().at(1).bytes(), 100u);
  EXPECT_EQ(peaks.processes().at(2).bytes(), 120u);
  EXPECT_EQ(peaks.processes().at(2).timeNs(), 4u);
}

TEST(Peaks, EachDeviceHasItsOwn) {
  Peaks peaks;
  const auto onDevice = [](uint8_t device, uint32_t cohort, uint64_t size) {
    Block of = block(cohort, size, abi::Heap::Device);
    of.device = device;
    return of;
  };
  peaks.onAlloc(onDevice(0, 1, 100), AllocCause::Allocated, 1);
  peaks.onAlloc(onDevice(1, 2, 1000), AllocCause::Allocated, 2);
  peaks.onFree(onDevice(0, 1, 100), FreeCause::Freed, 3);
  peaks.onAlloc(onDevice(0, 3, 70), AllocCause::Allocated, 4);
  const PeakTracker &first = peaks.of(Account{abi::Heap::Device, 0}), &second = peaks.of(Account{abi::Heap::Device, 1});
  EXPECT_EQ(first.clock().bytes(), 100u);
  EXPECT_EQ(first.clock().timeNs(), 1u);
  EXPECT_EQ(first.clock().nowBytes(), 70u);
  EXPECT_EQ(first.shares(), (std::vector<CohortShare>{{CohortId{1}, 100, 1}}));
  EXPECT_EQ(second.clock().bytes(), 1000u);
  EXPECT_EQ(peaks.of(Account{abi::Heap::Device, 2}).clock().bytes(), 0u);
  EXPECT_EQ(peaks.of(abi::Heap::Device).clock().bytes(), 1100u);
  std::vector<Account> accounts;
  peaks.forEachAccount([&](const Account &account, const PeakTracker &) { accounts.push_back(account); });
  EXPECT_EQ(accounts, (std::vector<Account>{{abi::Heap::Device, 0}, {abi::Heap::Device, 1}}));
}

// The peak is reached by an allocation inside a wrapper. Only a later event attributes the block to the wrapper's
// caller. The result must name this caller.
TEST(Peaks, NamesTheSiteThatABlockIsRetargetedTo) {
  Peaks peaks;
  const auto add = [&](Block of, uint64_t time_ns) {
    of.time_ns = time_ns;
    peaks.onAlloc(of, AllocCause::Allocated, time_ns);
    return of;
  };
  const auto retarget = [&](Block of, uint32_t to, uint64_t time_ns) {
    const Block before = of;
    of.cohort = CohortId{to};
    peaks.onRetarget(of, before, time_ns);
    return of;
  };
  add(block(1, 50), 10);
  const Block wrapped = retarget(add(block(1, 100), 20), 7, 21);
  EXPECT_EQ(peaks.physical().clock().timeNs(), 20u);
  EXPECT_EQ(peaks.physical().shares(), (std::vector<CohortShare>{{CohortId{1}, 50, 1}, {CohortId{7}, 100, 1}}));
  EXPECT_EQ(peaks.of(abi::Heap::Host).shares(), peaks.physical().shares());

  peaks.onFree(wrapped, FreeCause::Freed, 30);
  retarget(add(block(1, 60), 40), 9, 41); // this block was not alive at the peak
  EXPECT_EQ(peaks.physical().shares(), (std::vector<CohortShare>{{CohortId{1}, 50, 1}, {CohortId{7}, 100, 1}}));
}

TEST(Peaks, NothingAtAll) {
  const Peaks peaks;
  EXPECT_EQ(peaks.physical().clock().bytes(), 0u);
  EXPECT_TRUE(peaks.physical().shares().empty());
  EXPECT_TRUE(peaks.processes().empty());
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
      ASSERT_EQ(tracker.clock().bytes(), naive.peak);
      ASSERT_EQ(tracker.clock().timeNs(), naive.time_ns);
      ASSERT_EQ(tracker.shares(), naive.shares());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PeakModel, testing::Values(1, 2, 3, 4));

} // namespace msleaks::analysis
