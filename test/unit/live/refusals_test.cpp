// Tests how the analysis judges a refused allocation by what the program does next.
#include "analysis/live/refusals.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

constexpr SiteId kHere{1}, kThere{2};

class RefusalsTest : public testing::Test {
protected:
  void refuse(uint64_t bytes, uint64_t time_ns, SiteId site = kHere, uint32_t stream = 0) {
    refusals.refuse({1, stream, site}, {bytes, 12, time_ns});
  }
  Refusals::Sum of(SiteId site, uint32_t stream = 0) const {
    const auto at = refusals.sums().find({1, stream, site});
    return at == refusals.sums().end() ? Refusals::Sum{} : at->second;
  }
  Refusals refusals;
};

} // namespace

TEST_F(RefusalsTest, IsOutOfMemoryWhenTheThreadIsGivenNothingThere) {
  refuse(1000, 5);
  refusals.give(1, 0, kThere, 6); // memory for the error message
  refusals.give(1, 0, kHere, 7);  // the next request at the place
  EXPECT_TRUE(of(kHere).isOutOfMemory());
  EXPECT_EQ(of(kHere).count, 1u);
  EXPECT_EQ(of(kHere).last.bytes, 1000u);
  EXPECT_EQ(of(kHere).last.status, 12u);
}

// std::get_temporary_buffer() halves the size after each refusal. If the thread then gets less memory, it has not run
// out of memory.
TEST_F(RefusalsTest, IsNoneWhenTheThreadAsksForLessAndGetsIt) {
  for (uint64_t bytes = 1 << 30; bytes > 1 << 27; bytes /= 2)
    refuse(bytes, 5);
  refusals.give(1, 0, kHere, 6);
  EXPECT_FALSE(of(kHere).isOutOfMemory());
  EXPECT_EQ(of(kHere).count, 3u);
  EXPECT_EQ(of(kHere).answered, 3u);
  EXPECT_EQ(of(kHere).largest_bytes, 1u << 30);
}

TEST_F(RefusalsTest, OfAnotherThreadIsNoAnswer) {
  refuse(1000, 5);
  refusals.give(1, 1, kHere, 6);
  refusals.give(2, 0, kHere, 6);
  EXPECT_TRUE(of(kHere).isOutOfMemory());
}

TEST_F(RefusalsTest, ThatComesMuchLaterIsNoAnswer) {
  refuse(1000, 5);
  refusals.give(1, 0, kHere, 200'000'005);
  EXPECT_TRUE(of(kHere).isOutOfMemory());
}

TEST_F(RefusalsTest, AnAnswerLeavesWhatWasRefusedBefore) {
  refuse(1000, 5);
  refusals.give(1, 0, kThere, 6);
  refuse(2000, 7);
  refuse(1500, 8);
  refusals.give(1, 0, kHere, 9);
  EXPECT_TRUE(of(kHere).isOutOfMemory());
  EXPECT_EQ(of(kHere).count - of(kHere).answered, 1u);
  EXPECT_EQ(of(kHere).last.bytes, 1000u);
}

TEST_F(RefusalsTest, ElsewhereIsAnotherOne) {
  refuse(1000, 5);
  refuse(500, 6, kThere);
  refusals.give(1, 0, kThere, 7);
  EXPECT_TRUE(of(kHere).isOutOfMemory());
  EXPECT_FALSE(of(kThere).isOutOfMemory());
}

} // namespace msleaks::analysis
