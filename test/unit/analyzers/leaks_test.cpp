#include "msleaks/analysis/leaks.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {

namespace {

Block block(uint32_t site, uint64_t size, uint64_t time_ns, abi::Heap heap = abi::Heap::Host) {
  Block block;
  block.address = 1;
  block.size = size;
  block.time_ns = time_ns;
  block.site = SiteId{site};
  block.heap = heap;
  return block;
}

} // namespace

TEST(Leaks, GroupsBySiteWithAges) {
  LeakAnalyzer leaks;
  leaks.onFree(block(2, 10, 100), FreeCause::ProcessExited, 1000);
  leaks.onFree(block(2, 30, 400), FreeCause::ProcessExited, 1000);
  leaks.onFree(block(1, 5, 900), FreeCause::ProcessExited, 1000);
  const auto result = leaks.result();
  ASSERT_EQ(result.leaked.size(), 2u);
  EXPECT_EQ(result.leaked[0].site, SiteId{1});
  const SiteRemains &two = result.leaked[1];
  EXPECT_EQ(two.bytes, 40u);
  EXPECT_EQ(two.count, 2u);
  EXPECT_EQ(two.largest_bytes, 30u);
  EXPECT_EQ(two.oldest_age_ns, 900u);
  EXPECT_EQ(two.newest_age_ns, 600u);
  EXPECT_EQ(physicalSum(result.leaked), (BlockSum{45, 3}));
  EXPECT_EQ(leaks.findings().front().bytes, 40u);
}

TEST(Leaks, OnlyAnExitMakesALeak) {
  LeakAnalyzer leaks;
  leaks.onFree(block(1, 1, 0), FreeCause::Freed, 10);
  leaks.onFree(block(1, 2, 0), FreeCause::Replaced, 10);
  leaks.onFree(block(1, 4, 0), FreeCause::ProcessExec, 10);
  leaks.onFree(block(1, 8, 0), FreeCause::ProcessKilled, 10);
  leaks.onFree(block(1, 16, 0), FreeCause::StillAlive, 10);
  EXPECT_TRUE(leaks.result().leaked.empty());
  EXPECT_EQ(physicalSum(leaks.result().alive), (BlockSum{24, 2}));
  EXPECT_TRUE(leaks.findings().empty());
}

TEST(Leaks, HeapsAreApartAndPoolsDoNotCountTwice) {
  LeakAnalyzer leaks;
  leaks.onFree(block(1, 10, 0), FreeCause::ProcessExited, 10);
  leaks.onFree(block(1, 20, 0, abi::Heap::Device), FreeCause::ProcessExited, 10);
  leaks.onFree(block(1, 40, 0, abi::Heap::Pool), FreeCause::ProcessExited, 10);
  Block reserved = block(1, 1 << 20, 0, abi::Heap::Mapping);
  reserved.reserve = 1;
  leaks.onFree(reserved, FreeCause::ProcessExited, 10);
  EXPECT_EQ(leaks.result().leaked.size(), 3u);
  EXPECT_EQ(physicalSum(leaks.result().leaked), (BlockSum{30, 2}));
}

TEST(Leaks, PartsOfASessionMerge) {
  LeakAnalyzer left, right, both;
  for (uint32_t i = 0; i < 20; ++i) {
    const Block part = block(i * 7 % 11, i + 1, i);
    (i % 3 ? left : right).onFree(part, FreeCause::ProcessExited, 100);
    both.onFree(part, FreeCause::ProcessExited, 100);
  }
  auto merged = left.result();
  merged.merge(right.result());
  const auto expected = both.result();
  ASSERT_EQ(merged.leaked.size(), expected.leaked.size());
  for (size_t i = 0; i < merged.leaked.size(); ++i) {
    EXPECT_EQ(merged.leaked[i].site, expected.leaked[i].site);
    EXPECT_EQ(merged.leaked[i].bytes, expected.leaked[i].bytes);
    EXPECT_EQ(merged.leaked[i].count, expected.leaked[i].count);
    EXPECT_EQ(merged.leaked[i].largest_bytes, expected.leaked[i].largest_bytes);
    EXPECT_EQ(merged.leaked[i].oldest_age_ns, expected.leaked[i].oldest_age_ns);
    EXPECT_EQ(merged.leaked[i].newest_age_ns, expected.leaked[i].newest_age_ns);
  }
}

} // namespace msleaks::analysis
