// Tests the formulas of scores on numbers whose result is known.
#include "analysis/analyzers/scores.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

TEST(LeakScore, FollowsTheRuleOfSuccession) {
  EXPECT_DOUBLE_EQ(leakScore(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(leakScore(1, 0), 2.0 / 3);
  EXPECT_DOUBLE_EQ(leakScore(8, 8), 0.1);
  EXPECT_DOUBLE_EQ(leakScore(98, 0), 0.99);
  EXPECT_DOUBLE_EQ(leakScore(98, 49), 0.5);
}

// A place that frees each block soon after it gets a lower score with each block. One that frees none gets a higher
// one.
TEST(LeakScore, MovesWithEachBlock) {
  for (uint64_t n = 1; n < 1000; ++n) {
    EXPECT_LT(leakScore(n + 1, n + 1), leakScore(n, n));
    EXPECT_GT(leakScore(n + 1, 0), leakScore(n, 0));
    EXPECT_GT(leakScore(n, 0), 0);
    EXPECT_LT(leakScore(n, 0), 1);
  }
}

TEST(FragmentationScore, IsTheShareOutsideTheLargestHole) {
  EXPECT_DOUBLE_EQ(fragmentationScore(0, 0), 0);
  EXPECT_DOUBLE_EQ(fragmentationScore(100, 100), 0);
  EXPECT_DOUBLE_EQ(fragmentationScore(100, 25), 0.75);
  EXPECT_DOUBLE_EQ(fragmentationScore(100, 0), 1);
  EXPECT_DOUBLE_EQ(fragmentationScore(10, 20), 0); // a hole of an older moment
}

} // namespace
} // namespace msleaks::analysis
