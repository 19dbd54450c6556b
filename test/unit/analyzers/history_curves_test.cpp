#include "analysis/findings/history_curves.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

Block blockOf(uint32_t cohort, uint64_t size, uint64_t time_ns) {
  Block block;
  block.address = 1;
  block.size = size;
  block.cohort = {cohort};
  block.time_ns = time_ns;
  return block;
}

} // namespace

TEST(HistoryCurves, AreSumsOfGroupsAtTheMaxima) {
  MemoryHistory history;
  history.onAlloc(blockOf(1, 100, 1), AllocCause::Allocated, 1);
  history.onAlloc(blockOf(2, 10, 2), AllocCause::Allocated, 2);
  history.onFree(blockOf(1, 100, 1), FreeCause::Freed, 3);
  history.onAlloc(blockOf(3, 30, 4), AllocCause::Allocated, 4);
  for (const auto &[cohort, bytes] : {std::pair(2u, 10u), std::pair(3u, 30u)})
    history.onFree(blockOf(cohort, bytes, 1), FreeCause::ProcessExited, 5);
  const HistoryCurves curves(history);
  EXPECT_EQ(curves.times(), (std::vector<uint64_t>{2, 4}));
  EXPECT_TRUE(curves.changes({3}));
  EXPECT_FALSE(curves.changes({4}));
  const HistoryCurves::Groups groups{HistoryCurves::kNone, 0, 1, 1, HistoryCurves::kNone};
  const auto highest = curves.highestOf(groups, 2);
  EXPECT_EQ(highest[0].bytes, 100);
  EXPECT_EQ(highest[0].at, 0u);
  EXPECT_EQ(highest[1].bytes, 40);
  EXPECT_EQ(highest[1].at, 1u);
  const size_t both[] = {0, 1}, second[] = {1};
  EXPECT_EQ(curves.curvesOf(groups, 2, both), (std::vector<std::vector<uint64_t>>{{100, 0}, {10, 40}}));
  EXPECT_EQ(curves.curvesOf(groups, 2, second), (std::vector<std::vector<uint64_t>>{{0}, {40}}));
}

// After a Retarget event, the curves must show the block in its new cohort, even at maxima before the event.
TEST(HistoryCurves, KnowWhoseABlockHasAlwaysBeen) {
  MemoryHistory history;
  Block wrapped = blockOf(1, 100, 1);
  history.onAlloc(wrapped, AllocCause::Allocated, 1);
  for (uint64_t time = 2; time < 6; time += 2) {
    history.onAlloc(blockOf(3, 7 + time, time), AllocCause::Allocated, time);
    history.onFree(blockOf(3, 7 + time, time), FreeCause::Freed, time + 1);
  }
  const Block before = wrapped;
  wrapped.cohort = {2};
  history.onRetarget(wrapped, before, 6);
  const HistoryCurves curves(history);
  ASSERT_EQ(curves.times().size(), 2u);
  const HistoryCurves::Groups groups{HistoryCurves::kNone, 0, 1, 2};
  const size_t all[] = {0, 1};
  EXPECT_EQ(curves.curvesOf(groups, 3, all), (std::vector<std::vector<uint64_t>>{{0, 0}, {100, 100}, {9, 11}}));
}

TEST(ChooseMoments, FewAreAllTaken) {
  const std::vector<uint64_t> values{3, 1, 2};
  EXPECT_EQ(chooseMoments(values, {}, 3), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(chooseMoments({}, {}, 3), std::vector<size_t>{});
}

TEST(ChooseMoments, OfManyThePeaksAndTheHighestOfEachPart) {
  constexpr size_t kMost = 100;
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint64_t> values(kMost + 1 + random() % 5000);
    for (uint64_t &value : values)
      value = random() % 1000;
    std::vector<size_t> wanted;
    for (int i = 0; i < 30; ++i)
      wanted.push_back(random() % values.size());
    const auto chosen = chooseMoments(values, wanted, kMost);
    EXPECT_LE(chosen.size(), kMost);
    EXPECT_GE(chosen.size(), kMost / 2);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end()) << "one is there twice";
    EXPECT_EQ(chosen.front(), 0u);
    EXPECT_EQ(chosen.back(), values.size() - 1);
    for (const size_t at : wanted)
      EXPECT_TRUE(std::binary_search(chosen.begin(), chosen.end(), at));
    const auto highest = static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    EXPECT_TRUE(std::binary_search(chosen.begin(), chosen.end(), highest));
  }
}

TEST(ChooseMoments, OfTooManyPeaksTheFirstOnes) {
  std::vector<uint64_t> values(1000);
  std::vector<size_t> wanted;
  for (size_t i = 0; i < 500; ++i)
    wanted.push_back(999 - 2 * i);
  const auto chosen = chooseMoments(values, wanted, 100);
  EXPECT_EQ(chosen.size(), 100u);
  EXPECT_EQ(chosen[0], 0u);
  EXPECT_EQ(chosen[1], 803u);
}

} // namespace msleaks::analysis
