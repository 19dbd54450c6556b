#include "analysis/live/step_survivors.h"

#include <gtest/gtest.h>
#include <map>

namespace msleaks::analysis {
namespace {

constexpr CohortId kOne{1}, kTwo{2};

// Step n begins at the time 100 * n.
class StepSurvivorsTest : public testing::Test {
protected:
  void beginStep(uint64_t number) { survivors.beginStep(number, number * 100); }
  void born(CohortId cohort, uint64_t time_ns, int64_t bytes) { survivors.change(cohort, time_ns, bytes, 1); }
  void dies(CohortId cohort, uint64_t time_ns, int64_t bytes) { survivors.change(cohort, time_ns, -bytes, -1); }
  // Returns the bytes that a cohort left alive, for each bucket. (A bucket is a range of steps.)
  std::map<uint32_t, int64_t> left(CohortId cohort) const {
    std::map<uint32_t, int64_t> bytes;
    for (const auto &share : survivors.shares())
      if (share.cohort == cohort)
        bytes[share.bucket] = share.bytes;
    return bytes;
  }
  StepSurvivors survivors{8};
};

using Left = std::map<uint32_t, int64_t>;

} // namespace

TEST_F(StepSurvivorsTest, WhatAStepKeepsIsJudgedWhenAWholeStepHasPassed) {
  born(kOne, 50, 1000);
  beginStep(1);
  born(kOne, 150, 1000); // memory of the first step does not count
  beginStep(2);
  born(kOne, 210, 5);
  born(kTwo, 220, 7);
  dies(kTwo, 220, 7);
  beginStep(3);
  EXPECT_TRUE(survivors.buckets().empty()) << "step 3 may still free it";
  born(kOne, 310, 6);
  beginStep(4);
  ASSERT_EQ(survivors.buckets().size(), 1u);
  EXPECT_EQ(survivors.buckets()[0].first_step, 2u);
  EXPECT_EQ(survivors.buckets()[0].begin_ns, 200u);
  EXPECT_EQ(survivors.buckets()[0].end_ns, 300u);
  EXPECT_EQ(left(kOne), (Left{{0, 5}}));
  EXPECT_EQ(left(kTwo), Left{});
  EXPECT_EQ(survivors.firstBucketOf(kOne), 0u);
  EXPECT_EQ(survivors.firstBucketOf(kTwo), std::nullopt);
}

TEST_F(StepSurvivorsTest, WhatIsFreedLaterIsTakenBackWhenTheNextStepBegins) {
  for (uint64_t step = 1; step <= 6; ++step) {
    beginStep(step);
    born(kOne, step * 100 + 10, 8);
    if (step > 3)
      dies(kOne, (step - 2) * 100 + 10, 8);
  }
  EXPECT_EQ(left(kOne), (Left{{2, 8}})) << "of step 4: that it was freed in step 6 counts when that is over";
  EXPECT_EQ(survivors.shares().front().freed_bytes, 8);
  EXPECT_EQ(survivors.firstBucketOf(kOne), 0u) << "something was left of step 2 once";
  beginStep(7);
  EXPECT_EQ(left(kOne), (Left{{3, 8}}));
}

TEST_F(StepSurvivorsTest, AStepThatSeveralThreadsBeginIsOne) {
  for (uint64_t step = 1; step <= 4; ++step)
    for (int thread = 0; thread < 3; ++thread)
      beginStep(step);
  EXPECT_EQ(survivors.buckets().size(), 1u);
}

TEST_F(StepSurvivorsTest, TwoBucketsBecomeOneWhenAllAreFull) {
  constexpr uint64_t kSteps = 1001;
  for (uint64_t step = 1; step <= kSteps; ++step) {
    beginStep(step);
    born(kOne, step * 100, 3);
    if (step == 500)
      born(kTwo, step * 100, 100);
  }
  const auto buckets = survivors.buckets();
  ASSERT_GE(buckets.size(), 3u);
  ASSERT_LT(buckets.size(), 8u);
  EXPECT_EQ(buckets.front().first_step, 2u);
  EXPECT_EQ(survivors.firstBucketOf(kOne), 0u);
  const auto bytes = left(kOne);
  for (uint32_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(bytes.at(i), static_cast<int64_t>(3 * buckets[i].steps)) << i;
    EXPECT_EQ(buckets[i].end_ns - buckets[i].begin_ns, buckets[i].steps * 100) << i;
  }
  const auto two = left(kTwo);
  ASSERT_EQ(two.size(), 1u);
  const auto &bucket = buckets[two.begin()->first];
  EXPECT_TRUE(bucket.begin_ns <= 50'000 && 50'000 < bucket.end_ns);
  EXPECT_EQ(survivors.firstBucketOf(kTwo), two.begin()->first);
  dies(kTwo, 50'000, 100);
  dies(kOne, 50'000, 3);
  beginStep(kSteps + 1);
  EXPECT_EQ(left(kTwo), Left{});
  EXPECT_EQ(left(kOne).at(two.begin()->first), static_cast<int64_t>(3 * bucket.steps - 3));
}

} // namespace msleaks::analysis
