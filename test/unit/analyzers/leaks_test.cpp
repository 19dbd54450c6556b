#include "analysis/analyzers/leaks.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {

namespace {

Block leakable(uint32_t site, uint64_t size, uint64_t time_ns, abi::Heap heap = abi::Heap::Host) {
  Block block;
  block.address = 1;
  block.size = size;
  block.time_ns = time_ns;
  block.cohort = CohortId{site * 16 + static_cast<uint32_t>(heap)};
  block.heap = heap;
  return block;
}

StreamEvent epoch(uint64_t time_ns, uint64_t enabled) {
  return {kSessionProcess, 0,
          abi::AnyEvent::from(abi::EpochEvent{{abi::EventKind::Epoch, abi::Heap::Host, 0, 0, 0, time_ns}, 2, enabled})};
}

} // namespace

TEST(Leaks, ABlockThatLivedInAPauseIsUnsure) {
  LeakAnalyzer leaks;
  EXPECT_NE(leaks.eventKinds() & abi::enabledBit(abi::EventKind::Epoch), 0u);
  leaks.onFree(leakable(1, 1, 50), FreeCause::ProcessExited, 90);
  leaks.onEvent(epoch(100, 0), {});
  leaks.onFree(leakable(1, 2, 50), FreeCause::ProcessExited, 150);
  leaks.onFree(leakable(1, 4, 50), FreeCause::ProcessKilled, 150);
  leaks.onEvent(epoch(200, ~0u), {});
  leaks.onFree(leakable(1, 8, 199), FreeCause::ProcessExited, 300);
  leaks.onFree(leakable(1, 16, 200), FreeCause::ProcessExited, 300);
  leaks.onEvent(epoch(400, abi::enabledBit(abi::EventKind::Free)), {}); // from here on, only frees are recorded
  leaks.onFree(leakable(1, 32, 200), FreeCause::ProcessExited, 500);
  leaks.onEvent(epoch(600, abi::enabledBit(abi::EventKind::Alloc)), {});
  leaks.onFree(leakable(1, 64, 700), FreeCause::ProcessExited, 800);
  const LeakResult result = leaks.result();
  EXPECT_EQ(physicalSum(result.leaked), (BlockSum{1 + 16 + 32, 3}));
  EXPECT_EQ(physicalSum(result.unsure), (BlockSum{2 + 8 + 64, 3}));
  EXPECT_EQ(physicalSum(result.alive), (BlockSum{4, 1}));
}

// A process may leave millions of blocks alive. So `Births` merges their allocation times. A merged time must not be
// earlier than the real allocation time.
TEST(Leaks, BirthsTakeBoundedMemoryAndNoBlockCountsTooEarly) {
  Births births;
  constexpr uint64_t kBlocks = 5 * Births::kMost;
  for (uint64_t time = kBlocks; time > 0; --time)
    births.add(time, 1);
  EXPECT_LE(births.size(), Births::kMost);
  Absence absence;
  births.addTo(absence, {7});
  std::sort(absence.blocks.begin(), absence.blocks.end(),
            [](const AbsentBlock &a, const AbsentBlock &b) { return a.from_ns < b.from_ns; });
  uint64_t sum = 0;
  for (const AbsentBlock &birth : absence.blocks) {
    sum += static_cast<uint64_t>(birth.bytes);
    ASSERT_LE(sum, birth.from_ns) << "of the blocks until then";
    ASSERT_EQ(birth.cohort, CohortId{7});
  }
  EXPECT_EQ(sum, kBlocks);
}

// A server may leak in many processes and at many places. So the bound must hold for all cohorts together.
TEST(Leaks, TheBirthsOfAllCohortsTakeBoundedMemoryTogether) {
  AllBirths births;
  constexpr uint32_t kCohorts = 1000, kEach = 5000;
  for (uint32_t time = 1; time <= kEach; ++time)
    for (uint32_t cohort = 1; cohort <= kCohorts; ++cohort)
      births.add(Reach::Lost, {cohort}, time, 2);
  EXPECT_LE(births.size(), AllBirths::kMostInAll);
  Absence absence;
  births.addTo(absence, Reach::Lost, {kCohorts});
  uint64_t sum = 0;
  for (const AbsentBlock &birth : absence.blocks)
    sum += static_cast<uint64_t>(birth.bytes);
  EXPECT_EQ(sum, 2 * kEach);
}

TEST(Leaks, GroupsBySiteWithAges) {
  LeakAnalyzer leaks;
  leaks.onFree(leakable(2, 10, 100), FreeCause::ProcessExited, 1000);
  leaks.onFree(leakable(2, 30, 400), FreeCause::ProcessExited, 1000);
  leaks.onFree(leakable(1, 5, 900), FreeCause::ProcessExited, 1000);
  const auto result = leaks.result();
  ASSERT_EQ(result.leaked.size(), 2u);
  EXPECT_EQ(result.leaked[0].cohort, leakable(1, 0, 0).cohort);
  const Remains &two = result.leaked[1];
  EXPECT_EQ(two.bytes, 40u);
  EXPECT_EQ(two.count, 2u);
  EXPECT_EQ(two.largest_bytes, 30u);
  EXPECT_EQ(two.oldest_age_ns, 900u);
  EXPECT_EQ(two.newest_age_ns, 600u);
  EXPECT_EQ(physicalSum(result.leaked), (BlockSum{45, 3}));
}

TEST(Leaks, OnlyAnExitMakesALeak) {
  LeakAnalyzer leaks;
  leaks.onFree(leakable(1, 1, 0), FreeCause::Freed, 10);
  leaks.onFree(leakable(1, 2, 0), FreeCause::Replaced, 10);
  leaks.onFree(leakable(1, 4, 0), FreeCause::ProcessExec, 10);
  leaks.onFree(leakable(1, 8, 0), FreeCause::ProcessKilled, 10);
  leaks.onFree(leakable(1, 16, 0), FreeCause::StillAlive, 10);
  EXPECT_TRUE(leaks.result().leaked.empty());
  EXPECT_EQ(physicalSum(leaks.result().alive), (BlockSum{24, 2}));
}

TEST(Leaks, HeapsAreApartAndPoolsDoNotCountTwice) {
  LeakAnalyzer leaks;
  leaks.onFree(leakable(1, 10, 0), FreeCause::ProcessExited, 10);
  leaks.onFree(leakable(1, 20, 0, abi::Heap::Device), FreeCause::ProcessExited, 10);
  leaks.onFree(leakable(1, 40, 0, abi::Heap::Pool), FreeCause::ProcessExited, 10);
  Block reserved = leakable(1, 1 << 20, 0, abi::Heap::Mapping);
  reserved.reserve = 1;
  leaks.onFree(reserved, FreeCause::ProcessExited, 10);
  EXPECT_EQ(leaks.result().leaked.size(), 3u);
  EXPECT_EQ(physicalSum(leaks.result().leaked), (BlockSum{30, 2}));
}

} // namespace msleaks::analysis
