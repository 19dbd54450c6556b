// Tests the peaks that the memory history computes for a run without some of its blocks. A model that stores every
// state computes the expected peaks.
#include "analysis/live/memory_history.h"

#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

Block block(uint32_t cohort, uint64_t size, uint64_t time_ns = 0) {
  Block block;
  block.address = 1;
  block.size = size;
  block.cohort = {cohort};
  block.time_ns = time_ns;
  return block;
}

CohortSet allBut(std::initializer_list<uint32_t> absent) {
  CohortSet set(64, true);
  for (const uint32_t cohort : absent)
    set[cohort] = false;
  return set;
}

class History : public testing::Test {
protected:
  void add(uint32_t cohort, uint64_t bytes) { history.onAlloc(block(cohort, bytes), AllocCause::Allocated, ++now); }
  void remove(uint32_t cohort, uint64_t bytes) { history.onFree(block(cohort, bytes), FreeCause::Freed, ++now); }
  MemoryHistory history;
  uint64_t now = 0;
};

} // namespace

TEST_F(History, ThePeakWithoutABlockIsTheNextHighestPoint) {
  add(1, 100);
  add(2, 50); // 150 bytes in total
  remove(1, 100);
  add(3, 70); // 120 bytes in total
  EXPECT_EQ(history.peakOf(allBut({})), 150u);
  EXPECT_EQ(history.peakOf(allBut({1})), 120u);
  EXPECT_EQ(history.peakOf(allBut({2})), 100u);
  EXPECT_EQ(history.peakOf(allBut({1, 2})), 70u);
  EXPECT_EQ(history.peakOf(allBut({1, 2, 3})), 0u);
}

using Range = std::pair<size_t, size_t>; // of maxima

Range maximaWithout(const MemoryHistory &history, uint64_t from_ns, uint64_t to_ns, int64_t bytes = 10) {
  const auto maxima = history.maximaWithout({{1}, bytes, from_ns, to_ns});
  return {maxima.from, maxima.to};
}

TEST_F(History, ABlockThatLeaksIsInEachMaximumFromItsBirthOn) {
  add(1, 100);    // at time 1
  add(1, 10);     // at time 2: this block leaks
  remove(1, 100); // at time 3
  add(1, 95);     // at time 4
  EXPECT_EQ(history.curveOf(allBut({})), (std::vector<int64_t>{110, 105}));
  EXPECT_EQ(maximaWithout(history, 2, UINT64_MAX), Range(0, 2));
  EXPECT_EQ(maximaWithout(history, 4, UINT64_MAX), Range(1, 2)) << "one that is allocated at time 4";
}

// If a block is allocated a moment later, while memory is still highest, the peak is the same.
TEST_F(History, ABlockThatIsThereInAPartOfAMaximumCounts) {
  add(1, 10); // at time 1
  add(2, 50); // at time 2
  now = 10;
  remove(2, 50); // at time 11
  now = 20;
  add(2, 50); // at time 21: as high as before
  now = 30;
  remove(2, 50); // at time 31
  add(2, 70);    // at time 32: higher
  EXPECT_EQ(history.curveOf(allBut({})), (std::vector<int64_t>{60, 80}));
  EXPECT_EQ(maximaWithout(history, 2, 3), Range(0, 0)) << "it comes back while memory is highest";
  EXPECT_EQ(maximaWithout(history, 2, 11), Range(0, 0)) << "memory becomes as high a second time";
  EXPECT_EQ(maximaWithout(history, 2, 31), Range(0, 1));
  EXPECT_EQ(maximaWithout(history, 3, 31), Range(1, 1)) << "it goes while memory is highest";
  EXPECT_EQ(maximaWithout(history, 3, 4), Range(1, 1)) << "the same, and it comes back";
  EXPECT_EQ(maximaWithout(history, 2, 40), Range(0, 1)) << "it comes back during the last maximum";
  EXPECT_EQ(maximaWithout(history, 2, UINT64_MAX), Range(0, 2));
  EXPECT_EQ(maximaWithout(history, 3, 4, -10), Range(0, 1)) << "bytes in addition, in a part of a maximum";
  EXPECT_EQ(maximaWithout(history, 31, 32, -10), Range(1, 1)) << "bytes in addition, while memory is low";
}

TEST_F(History, ReservedMemoryCountsAsNone) {
  Block reserved = block(1, 1000);
  reserved.reserve = 1;
  history.onAlloc(reserved, AllocCause::Allocated, 1);
  add(2, 5);
  EXPECT_EQ(history.peakOf(allBut({})), 5u);
}

TEST_F(History, ARetargetedBlockWasTheOtherCohortsFromItsBirthOn) {
  Block wrapped = block(1, 100, ++now);
  history.onAlloc(wrapped, AllocCause::Allocated, now);
  add(3, 7);
  remove(3, 7); // ends the local maximum
  add(3, 9);
  remove(3, 9);
  const Block before = wrapped;
  wrapped.cohort = {2};
  history.onRetarget(wrapped, before, ++now);
  EXPECT_EQ(history.peakOf(allBut({2})), 9u);
  EXPECT_EQ(history.peakOf(allBut({1})), 109u);
  history.onFree(wrapped, FreeCause::Freed, ++now);
  add(4, 20);
  EXPECT_EQ(history.peakOf(allBut({2})), 20u);
  EXPECT_EQ(history.peakOf(allBut({1})), 109u);
}

TEST_F(History, WhatIsAllocatedAndFreedInTurnsTakesNoRoom) {
  add(1, 1000);
  for (int i = 0; i < 10'000; ++i) {
    add(2, 50);
    remove(2, 50);
  }
  EXPECT_LE(history.maxima(), 2u);
  EXPECT_EQ(history.peakOf(allBut({1})), 50u);
}

namespace {

// A simple model that stores every state.
struct NaiveHistory {
  std::vector<uint64_t> now = std::vector<uint64_t>(16);
  std::vector<std::vector<uint64_t>> states;
  void keep() { states.push_back(now); }
  uint64_t peakOf(const CohortSet &set) const {
    uint64_t peak = 0;
    for (const auto &state : states) {
      uint64_t sum = 0;
      for (size_t cohort = 0; cohort < state.size(); ++cohort)
        sum += set[cohort] ? state[cohort] : 0;
      peak = std::max(peak, sum);
    }
    return peak;
  }
};

// Compares the peaks of random sets of cohorts in a random history. The tested history stores at most `most_changes`
// changes.
void compareHistories(uint64_t seed, size_t most_changes, uint64_t &error_bytes) {
  std::mt19937_64 random(seed);
  MemoryHistory history(most_changes);
  NaiveHistory naive;
  std::vector<Block> live;
  for (uint64_t time = 1; time < 20'000; ++time) {
    if (live.empty() || random() % 100 < (time / 1000 % 2 ? 42 : 57)) {
      live.push_back(
          block(static_cast<uint32_t>(random() % 16), random() % (random() % 50 == 0 ? 100'000 : 300), time));
      history.onAlloc(live.back(), AllocCause::Allocated, time);
      naive.now[live.back().cohort.index] += live.back().size;
    } else {
      std::swap(live[random() % live.size()], live.back());
      history.onFree(live.back(), FreeCause::Freed, time);
      naive.now[live.back().cohort.index] -= live.back().size;
      live.pop_back();
    }
    naive.keep();
  }
  error_bytes = history.error();
  for (int i = 0; i < 50; ++i) {
    CohortSet set(16);
    for (size_t cohort = 0; cohort < set.size(); ++cohort)
      set[cohort] = i == 0 || random() % 3 != 0;
    const uint64_t exact = naive.peakOf(set);
    ASSERT_LE(history.peakOf(set), exact);
    ASSERT_GE(history.peakOf(set) + error_bytes, exact);
  }
}

} // namespace

TEST(HistoryModel, IsExactWhileThereIsRoom) {
  for (const uint64_t seed : {1, 2, 3}) {
    uint64_t error_bytes = 1;
    compareHistories(seed, 1 << 20, error_bytes);
    EXPECT_EQ(error_bytes, 0u);
  }
}

TEST(HistoryModel, KnowsHowMuchItMayMissWhereThereIsNone) {
  for (const uint64_t seed : {4, 5, 6}) {
    uint64_t error_bytes = 0;
    compareHistories(seed, 10'000, error_bytes);
    EXPECT_GT(error_bytes, 0u);
    EXPECT_LT(error_bytes, 10'000u) << "large blocks are not what is thinned out first";
  }
}

// A device's peak may be so small that the history would drop this maximum to save memory. The history must keep it.
TEST(HistoryModel, NeverLosesThePeakOfAnAccount) {
  for (const uint64_t seed : {7, 8, 9}) {
    std::mt19937_64 random(seed);
    MemoryHistory history(2'000), unpinned(2'000);
    Peaks peaks;
    history.keepPeaks(peaks);
    std::vector<Block> live;
    for (uint64_t time = 1; time < 20'000; ++time) {
      if (live.empty() || random() % 100 < (time / 1000 % 2 ? 42 : 57)) {
        live.push_back(block(static_cast<uint32_t>(1 + random() % 16), random() % 300, time));
        live.back().heap = live.back().cohort.index < 8 ? abi::Heap::Host : abi::Heap::Pinned;
        live.back().device = live.back().heap == abi::Heap::Host ? 0 : live.back().cohort.index % 4;
        for (BlockObserver *each : {static_cast<BlockObserver *>(&history), static_cast<BlockObserver *>(&unpinned),
                                    static_cast<BlockObserver *>(&peaks)})
          each->onAlloc(live.back(), AllocCause::Allocated, time);
      } else {
        std::swap(live[random() % live.size()], live.back());
        for (BlockObserver *each : {static_cast<BlockObserver *>(&history), static_cast<BlockObserver *>(&unpinned),
                                    static_cast<BlockObserver *>(&peaks)})
          each->onFree(live.back(), FreeCause::Freed, time);
        live.pop_back();
      }
    }
    EXPECT_GT(history.error(), 0u) << "nothing was thinned out";
    uint64_t lost_bytes = 0;
    size_t accounts = 0;
    peaks.forEachAccount([&](const Account &account, const PeakTracker &of) {
      CohortSet set(17);
      for (size_t cohort = 1; cohort < set.size(); ++cohort)
        set[cohort] = (cohort < 8 ? abi::Heap::Host : abi::Heap::Pinned) == account.heap &&
                      (cohort < 8 || cohort % 4 == account.device);
      EXPECT_EQ(history.peakOf(set), of.clock().bytes());
      lost_bytes += of.clock().bytes() - unpinned.peakOf(set);
      ++accounts;
    });
    EXPECT_EQ(accounts, 5u);
    EXPECT_GT(lost_bytes, 0u) << "nothing would have been lost";
    EXPECT_EQ(history.peakOf(CohortSet(17, true)), peaks.physical().clock().bytes());
  }
}

// The history keeps the maximum of each peak, even if these maxima alone have more changes than it may store.
TEST(HistoryModel, PeaksThatDoNotFitAreThinnedOutSeldom) {
  MemoryHistory history(16);
  Peaks peaks;
  history.keepPeaks(peaks);
  uint64_t time = 0;
  const auto tell = [&](uint32_t cohort, uint64_t bytes, bool is_free) {
    Block told = block(cohort, bytes, ++time);
    told.heap = abi::Heap::Device;
    told.device = static_cast<uint8_t>(cohort);
    for (BlockObserver *each : {static_cast<BlockObserver *>(&history), static_cast<BlockObserver *>(&peaks)})
      is_free ? each->onFree(told, FreeCause::Freed, time) : each->onAlloc(told, AllocCause::Allocated, time);
  };
  for (uint64_t round = 1; round < 500; ++round)
    for (uint32_t cohort = 1; cohort < 200; ++cohort) {
      tell(cohort, round < 3 ? 1000 * cohort : 10, false);
      tell(cohort, round < 3 ? 1000 * cohort : 10, true);
    }
  EXPECT_LE(history.maxima(), 4000u);
  for (uint32_t cohort = 1; cohort < 200; ++cohort) {
    CohortSet set(200);
    set[cohort] = true;
    EXPECT_EQ(history.peakOf(set), 1000u * cohort);
  }
}

} // namespace msleaks::analysis
