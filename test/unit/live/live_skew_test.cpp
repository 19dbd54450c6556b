// Tests two threads that use the same address one after the other, while the times of their events are in the wrong
// order.
#include "live_set_fixture.h"

namespace msleaks::analysis {

using test::alloc;
using test::Where;

namespace {
using LiveSkewTest = LiveSetTest;
} // namespace

TEST_F(LiveSkewTest, LateFreeOfAnotherThreadBelongsToTheOldBlock) {
  apply(alloc(1000, 0x10, 1, {.stream = 1, .site = 1}));
  apply(alloc(2000, 0x10, 2, {.stream = 2, .site = 2}));
  apply(test::free(2500, 0x10, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  EXPECT_EQ(live.counts().late_frees, 1u);
  apply(test::free(2600, 0x10, {.stream = 1})); // this second free ends the new block
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveSkewTest, FreeOfTheSameThreadOrMuchLaterIsReal) {
  apply(alloc(1000, 0x10, 1, {.stream = 1}));
  apply(alloc(2000, 0x10, 2, {.stream = 2}));
  apply(test::free(2500, 0x10, {.stream = 2}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  apply(alloc(3000, 0x20, 1, {.stream = 1}));
  apply(alloc(4000, 0x20, 2, {.stream = 2}));
  apply(test::free(1'000'000, 0x20, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveSkewTest, EarlyFreeOfAnotherThreadEndsTheBlock) {
  apply(test::free(1000, 0x10, {.stream = 2}));
  apply(alloc(1016, 0x10, 1, {.stream = 1, .site = 1}));
  EXPECT_EQ(journal.take(), "+10:1@1 alloc\n-10:1@1 free\n");
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  EXPECT_EQ(live.counts().early_frees, 1u);
  apply(alloc(2000, 0x10, 2, {.stream = 1, .site = 2})); // the early free has ended only the first block
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(2100, 0x10, {.stream = 2}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
}

TEST_F(LiveSkewTest, UnmatchedFreeOfTheSameThreadOrLongAgoEndsNothing) {
  apply(test::free(1000, 0x10, {.stream = 1}));
  apply(alloc(1010, 0x10, 1, {.stream = 1}));
  apply(test::free(2000, 0x20, {.stream = 2}));
  apply(alloc(9000, 0x20, 1, {.stream = 1}));
  apply(test::free(9500, 0x30, {.stream = 2}));
  apply(alloc(9600, 0x30, 1, {.stream = 1, .heap = abi::Heap::Device})); // in another address space
  EXPECT_EQ(live.liveBlocks(), 3u);
  EXPECT_EQ(live.counts().unmatched_frees, 3u);
  EXPECT_EQ(live.counts().early_frees, 0u);
}

// The clocks of two threads differ by at most a microsecond. So a free at a larger distance belongs to another block.
TEST_F(LiveSkewTest, AMicrosecondIsTooLongForAnEarlyOrALateFree) {
  apply(test::free(1000, 0x10, {.stream = 2}));
  apply(alloc(2000, 0x10, 1, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  apply(test::free(3000, 0x10, {.stream = 2}));
  apply(alloc(4001, 0x10, 1, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(alloc(5000, 0x10, 1, {.stream = 2}));
  apply(test::free(6001, 0x10, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().late_frees, 0u);
}

// The first block was allocated before the recording began. Right after its free, another thread allocates at the same
// address. So msleaks takes the free for an early free of the new block. As a result, the new block is no leak, and its
// own free counts as the free of a block from before the start.
TEST_F(LiveSkewTest, AFreeFromBeforeTheStartThatLooksEarlyMakesNoLeakAndNoFault) {
  apply(test::epoch(10, 0));
  apply(test::epoch(20, ~0u));
  apply(test::free(1000, 0x10, {.stream = 2}));
  apply(alloc(1400, 0x10, 1, {.stream = 1}));
  apply(test::free(9000, 0x10, {.stream = 1}));
  apply(test::free(19'000, 0x20, {.stream = 2})); // the next allocation comes too late to match this free
  apply(alloc(20'400, 0x20, 1, {.stream = 1}));
  apply(test::free(29'000, 0x20, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  EXPECT_EQ(live.counts().frees_before_start, 2u);
}

// Two threads retain and release a handle. The recorded times of these calls are before the allocation of the handle.
// The handle must live until its last release.
TEST_F(LiveSkewTest, EarlyRetainsCountBeforeEarlyFrees) {
  const Where device{.stream = 1, .heap = abi::Heap::Device}, second{.stream = 2, .heap = abi::Heap::Device},
      third{.stream = 3, .heap = abi::Heap::Device};
  apply(test::retain(1000, 0x10, second));
  apply(test::free(1005, 0x10, second));
  apply(test::retain(1006, 0x10, third));
  apply(alloc(1010, 0x10, 7, device));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(1020, 0x10, third));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(2000, 0x10, device));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_retargets, 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

TEST_F(LiveSkewTest, EarlyFreesMayBeReallocsOrMappings) {
  const Where realloc{.stream = 2, .flags = abi::kRealloc, .site = 2};
  apply(test::free(1000, 0x10, realloc));
  apply(alloc(1010, 0x10, 7, {.stream = 1, .site = 1}));
  apply(alloc(1100, 0, 0, {.stream = 2, .flags = abi::kRealloc | abi::kRestored}));
  EXPECT_EQ(journal.take(), "+10:7@1 alloc\n-10:7@1 realloc\n+10:7@1 restored\n");
  apply(test::free(2000, 0x10000, {.stream = 2, .heap = abi::Heap::Mapping}, 4 * kPage));
  apply(alloc(2010, 0x10000, 4 * kPage, {.stream = 1, .heap = abi::Heap::Mapping}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  EXPECT_EQ(live.counts().early_frees, 2u);
}

} // namespace msleaks::analysis
