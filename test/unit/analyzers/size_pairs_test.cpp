// Tests which blocks of the same size become pairs, and when.
#include "analysis/analyzers/size_pairs.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using Role = SizePairs::Role;
using End = SizePairs::End;

Block sizedBlock(uint32_t number, uint64_t size = 4096, uint32_t process = 1, abi::Heap heap = abi::Heap::Host) {
  Block block;
  block.id = {number};
  block.size = size;
  block.process = process;
  block.heap = heap;
  return block;
}

TEST(SizePairs, APairEndsWithTheFirstOfItsBlocks) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  const auto pair = pairs.remove(sizedBlock(1), End::Dropped);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->spare.id.index, 2u);
  EXPECT_EQ(pair->needed.id.index, 1u);
  EXPECT_FALSE(pairs.remove(sizedBlock(2), End::Dropped));
  EXPECT_FALSE(pairs.remove(sizedBlock(3), End::Dropped)) << "never added";
}

TEST(SizePairs, BlocksMustBeAlike) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Needed, sizedBlock(2, 4095));
  for (const Block &other : {sizedBlock(3, 4094), sizedBlock(4, 4096, 2), sizedBlock(5, 4096, 1, abi::Heap::Pool)}) {
    pairs.add(Role::Spare, other);
    EXPECT_FALSE(pairs.remove(other, End::Dropped)) << other.id.index;
  }
}

TEST(SizePairs, ABlockHasOnePartner) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_FALSE(pairs.remove(sizedBlock(3), End::OfProcess));
  EXPECT_TRUE(pairs.remove(sizedBlock(2), End::Dropped));
  EXPECT_FALSE(pairs.remove(sizedBlock(1), End::Dropped));
}

TEST(SizePairs, ABlockThatLosesItsPartnerGetsAnother) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_TRUE(pairs.remove(sizedBlock(2), End::Dropped));
  pairs.expectSpares(false);
  const auto pair = pairs.remove(sizedBlock(3), End::Dropped);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->needed.id.index, 1u);

  pairs.add(Role::Needed, sizedBlock(4));
  pairs.add(Role::Spare, sizedBlock(5));
  pairs.add(Role::Needed, sizedBlock(6));
  EXPECT_TRUE(pairs.remove(sizedBlock(4), End::Dropped));
  EXPECT_TRUE(pairs.remove(sizedBlock(5), End::Dropped)) << "with 6";
}

// A program drops the part of a checkpoint that its network has copied. Its optimizer goes on to use the other part.
TEST(SizePairs, ADroppedSpareBlockEndsAnyPairForGood) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  const auto pair = pairs.remove(sizedBlock(3), End::Dropped);
  ASSERT_TRUE(pair) << "3 or 2 was copied into 1: one of them is left";
  EXPECT_EQ(pair->spare.id.index, 3u);
  EXPECT_EQ(pair->needed.id.index, 1u);
  EXPECT_FALSE(pairs.remove(sizedBlock(2), End::Dropped));

  pairs.add(Role::Spare, sizedBlock(4));
  EXPECT_FALSE(pairs.remove(sizedBlock(4), End::Dropped)) << "1 rests";
}

TEST(SizePairs, ARestingBlockIsPairedWithNewSpareBlocksOnly) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_TRUE(pairs.remove(sizedBlock(2), End::Dropped));
  pairs.expectSpares(true);
  EXPECT_FALSE(pairs.remove(sizedBlock(3), End::Dropped)) << "an old one";
  pairs.add(Role::Spare, sizedBlock(4));
  const auto pair = pairs.remove(sizedBlock(4), End::OfProcess);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->needed.id.index, 1u);
}

TEST(SizePairs, ATemporaryBlockEndsNoOtherPair) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_TRUE(pairs.remove(sizedBlock(3), End::Dropped));
  pairs.expectSpares(false);
  const auto pair = pairs.remove(sizedBlock(2), End::OfProcess);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->needed.id.index, 1u);
}

TEST(SizePairs, ARestingBlockMayEnd) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  EXPECT_TRUE(pairs.remove(sizedBlock(2), End::Dropped));
  EXPECT_FALSE(pairs.remove(sizedBlock(1), End::Dropped));
  pairs.expectSpares(true);
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_FALSE(pairs.remove(sizedBlock(3), End::Dropped));
}

TEST(SizePairs, EachBlockHasOnePairAtTheEndOfTheProcess) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_TRUE(pairs.remove(sizedBlock(2), End::OfProcess));
  EXPECT_FALSE(pairs.remove(sizedBlock(3), End::OfProcess));
  EXPECT_FALSE(pairs.remove(sizedBlock(1), End::OfProcess));
}

TEST(SizePairs, ABlockMayBelongToAnotherSite) {
  SizePairs pairs;
  pairs.add(Role::Spare, sizedBlock(1));
  Block changed = sizedBlock(1);
  changed.cohort = {7};
  pairs.change(changed);
  pairs.add(Role::Needed, sizedBlock(2));
  const auto pair = pairs.remove(sizedBlock(2), End::Dropped);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->spare.cohort.index, 7u);
}

} // namespace
} // namespace msleaks::analysis
