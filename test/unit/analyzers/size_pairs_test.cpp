// Tests which blocks of the same size become pairs, and when.
#include "analysis/analyzers/size_pairs.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using Role = SizePairs::Role;

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
  const auto pair = pairs.remove(sizedBlock(1));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->spare.id.index, 2u);
  EXPECT_EQ(pair->needed.id.index, 1u);
  EXPECT_FALSE(pairs.remove(sizedBlock(2)));
  EXPECT_FALSE(pairs.remove(sizedBlock(3))) << "never added";
}

TEST(SizePairs, BlocksMustBeAlike) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Needed, sizedBlock(2, 4095));
  for (const Block &other : {sizedBlock(3, 4094), sizedBlock(4, 4096, 2), sizedBlock(5, 4096, 1, abi::Heap::Pool)}) {
    pairs.add(Role::Spare, other);
    EXPECT_FALSE(pairs.remove(other)) << other.id.index;
  }
}

TEST(SizePairs, ABlockHasOnePartner) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_FALSE(pairs.remove(sizedBlock(3)));
  EXPECT_TRUE(pairs.remove(sizedBlock(2)));
  EXPECT_FALSE(pairs.remove(sizedBlock(1)));
}

TEST(SizePairs, ABlockThatLosesItsPartnerGetsAnother) {
  SizePairs pairs;
  pairs.add(Role::Needed, sizedBlock(1));
  pairs.add(Role::Spare, sizedBlock(2));
  pairs.add(Role::Spare, sizedBlock(3));
  EXPECT_TRUE(pairs.remove(sizedBlock(2)));
  const auto pair = pairs.remove(sizedBlock(3));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->needed.id.index, 1u);
}

TEST(SizePairs, ABlockMayBelongToAnotherSite) {
  SizePairs pairs;
  pairs.add(Role::Spare, sizedBlock(1));
  Block changed = sizedBlock(1);
  changed.cohort = {7};
  pairs.change(changed);
  pairs.add(Role::Needed, sizedBlock(2));
  const auto pair = pairs.remove(sizedBlock(2));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->spare.cohort.index, 7u);
}

} // namespace
} // namespace msleaks::analysis
