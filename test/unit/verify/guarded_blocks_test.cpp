#include "analysis/second_run/guarded_blocks.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kBlockPage = 4096, kAt = 0x10000;

class GuardedBlocksTest : public testing::Test {
protected:
  PageRange touch(uint64_t address, uint64_t bytes = 1) { return blocks.touch(address, bytes, ++now_ns).closed; }

  uint64_t now_ns = 100;
  GuardedBlocks blocks{kBlockPage};
};

bool operator==(const PageRange &left, const PageRange &right) {
  return left.begin == right.begin && left.end == right.end;
}

TEST_F(GuardedBlocksTest, ATouchOpensItsPartOnce) {
  const auto block = blocks.add(kAt, 3 * kBlockPage + 1, 0, now_ns);
  EXPECT_EQ(block->untouchedBytes(), 3 * kBlockPage + 1);
  EXPECT_TRUE((touch(kAt + kBlockPage + 5) == PageRange{kAt + kBlockPage, kAt + 2 * kBlockPage}));
  EXPECT_TRUE(touch(kAt + kBlockPage).empty());
  EXPECT_EQ(block->untouchedBytes(), 2 * kBlockPage + 1);
  EXPECT_EQ(block->first_touch_ns, 101u);
}

TEST_F(GuardedBlocksTest, OnlyTheFirstTouchOfABlockIsTold) {
  blocks.add(kAt, 2 * kBlockPage, 0, now_ns);
  EXPECT_TRUE(blocks.touch(kAt, 1, 1).first);
  EXPECT_FALSE(blocks.touch(kAt + kBlockPage, 1, 2).first);
}

TEST_F(GuardedBlocksTest, BehindABlockIsNothing) {
  blocks.add(kAt, kBlockPage + 1, 0, now_ns);
  EXPECT_EQ(blocks.at(kAt - 1), nullptr);
  EXPECT_NE(blocks.at(kAt + 2 * kBlockPage - 1), nullptr); // the remaining part of the block's last page
  EXPECT_EQ(blocks.at(kAt + 2 * kBlockPage), nullptr);
  EXPECT_EQ(blocks.touch(kAt + 2 * kBlockPage, 1, 1).block, nullptr);
}

TEST_F(GuardedBlocksTest, ALargeBlockHasAtMostSoManyParts) {
  const uint64_t bytes = 1000 * kBlockPage;
  const auto block = blocks.add(kAt, bytes, 0, now_ns);
  EXPECT_LE(block->touched.size(), GuardedBlocks::kMostParts);
  const PageRange opened = touch(kAt + bytes - 1);
  EXPECT_EQ(opened.end, kAt + bytes);
  EXPECT_EQ(block->untouchedBytes(), bytes - (opened.end - opened.begin));
  EXPECT_EQ(block->doubtfulBytes(kBlockPage), opened.end - opened.begin - kBlockPage);
}

TEST_F(GuardedBlocksTest, WhatACallIsGivenIsOpenedFromEndToEnd) {
  blocks.add(kAt, 8 * kBlockPage, 0, now_ns);
  touch(kAt + 3 * kBlockPage);
  EXPECT_TRUE((touch(kAt + kBlockPage, 4 * kBlockPage) == PageRange{kAt + kBlockPage, kAt + 5 * kBlockPage}));
  EXPECT_TRUE((touch(kAt, 100 * kBlockPage) == PageRange{kAt, kAt + 8 * kBlockPage}));
}

TEST_F(GuardedBlocksTest, ARangeBetweenTwoOpenPartsStopsAtThem) {
  blocks.add(kAt, 8 * kBlockPage, 0, now_ns);
  touch(kAt);
  touch(kAt + 4 * kBlockPage);
  EXPECT_TRUE((touch(kAt, 3 * kBlockPage) == PageRange{kAt + kBlockPage, kAt + 3 * kBlockPage}));
}

TEST_F(GuardedBlocksTest, AChildOpensItsOwnPages) {
  const auto block = blocks.add(kAt, 2 * kBlockPage, 0, now_ns);
  GuardedBlocks child = blocks;
  EXPECT_FALSE(child.touch(kAt, 1, 1).closed.empty());
  EXPECT_TRUE(block->isTouched()); // a touch by any process counts
  EXPECT_FALSE(touch(kAt).empty());
}

TEST_F(GuardedBlocksTest, AMovedBlockKeepsWhatWasTouched) {
  blocks.add(kAt, 4 * kBlockPage, 0, now_ns);
  touch(kAt + kBlockPage);
  const auto moved = blocks.move(kAt, 10 * kAt, 8 * kBlockPage, now_ns);
  EXPECT_EQ(moved->untouchedBytes(), 7 * kBlockPage);
  EXPECT_FALSE(touch(10 * kAt + kBlockPage).empty()); // the pages of the moved block are protected again
}

TEST_F(GuardedBlocksTest, ABlockThatIsBornWithContentIsTouched) {
  const auto block = blocks.add(kAt, 4 * kBlockPage, kBlockPage + 1, now_ns);
  EXPECT_TRUE(block->isTouched());
  EXPECT_EQ(block->untouchedBytes(), 2 * kBlockPage);
}

TEST_F(GuardedBlocksTest, ABlockThatHasGoneIsNone) {
  const auto block = blocks.add(kAt, kBlockPage, 0, now_ns);
  blocks.remove(kAt, 200);
  blocks.remove(kAt, 300);
  EXPECT_EQ(block->gone_ns, 200u);
  EXPECT_EQ(blocks.at(kAt), nullptr);
}

TEST_F(GuardedBlocksTest, PagesTellWhatPartsDoNot) {
  const auto block = blocks.add(kAt, 1000 * kBlockPage, 0, now_ns),
             untouched = blocks.add(1000 * kAt, kBlockPage, 0, now_ns);
  touch(kAt);
  EXPECT_GT(block->doubtfulBytes(kBlockPage), 0u);
  blocks.measureAll([](PageRange range) { return range.begin == kAt ? 3 * kBlockPage : kBlockPage; });
  EXPECT_EQ(block->doubtfulBytes(kBlockPage), 0u);
  EXPECT_EQ(block->untouchedBytes(), 997 * kBlockPage);
  EXPECT_EQ(untouched->untouchedBytes(), kBlockPage); // a protected page may be resident without any touch
  blocks.measure(kAt, [](PageRange) { return kBlockPage; });
  EXPECT_EQ(block->untouchedBytes(), 997 * kBlockPage);
}

TEST_F(GuardedBlocksTest, OpeningAllSaysThatNobodyWatches) {
  const auto open = blocks.add(kAt, kBlockPage, 0, now_ns), closed = blocks.add(2 * kAt, kBlockPage, 0, now_ns);
  touch(kAt);
  const auto ranges = blocks.openAll();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, 2 * kAt);
  EXPECT_FALSE(open->unwatched);
  EXPECT_TRUE(closed->unwatched);
  EXPECT_TRUE(blocks.openAll().empty());
}

TEST_F(GuardedBlocksTest, AForksChildHasWhatItsPageTablesSay) {
  const uint64_t freed = kAt + 8 * kBlockPage, allocated = kAt + 16 * kBlockPage;
  blocks.add(kAt, 2 * kBlockPage, 0, now_ns);
  blocks.add(freed, kBlockPage, 0, now_ns);
  // The other thread of the parent does this after the fork.
  touch(kAt, 2 * kBlockPage);
  touch(freed);
  blocks.remove(freed, ++now_ns);
  blocks.add(allocated, kBlockPage, 0, now_ns);
  blocks.follow(
      [&](uint64_t address) { return address == kAt - kBlockPage || address == kAt || address == freed - kBlockPage; });
  EXPECT_TRUE(touch(kAt).empty());
  EXPECT_TRUE((touch(kAt + kBlockPage) == PageRange{kAt + kBlockPage, kAt + 2 * kBlockPage}));
  EXPECT_TRUE((touch(freed) == PageRange{freed, freed + kBlockPage}));
  EXPECT_EQ(blocks.at(allocated), nullptr);
}

// The fork may wait for the tracer while another thread of the parent frees one block after the other.
TEST_F(GuardedBlocksTest, AForksChildHasBlocksThatManyOthersFollowed) {
  constexpr uint64_t kCount = 3000, kStep = 4 * kBlockPage;
  for (uint64_t i = 0; i < kCount; ++i)
    blocks.add(kAt + i * kStep, kBlockPage, 0, now_ns);
  for (uint64_t i = 0; i < kCount; ++i)
    blocks.remove(kAt + i * kStep, ++now_ns);
  blocks.follow([](uint64_t address) { return (address - kAt) % kStep == kStep - kBlockPage; });
  for (const uint64_t i : {uint64_t{0}, kCount - 1})
    EXPECT_TRUE((touch(kAt + i * kStep) == PageRange{kAt + i * kStep, kAt + i * kStep + kBlockPage})) << i;
}

} // namespace
} // namespace msleaks::analysis
