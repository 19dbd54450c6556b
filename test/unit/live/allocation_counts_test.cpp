// Tests how repeated allocations and growing blocks are counted.
#include "analysis/live/allocation_counts.h"

#include "events.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

constexpr test::Where kGrowth{.flags = abi::kRealloc};

// Applies events to a live set, as the pipeline of the analysis does.
class AllocationCountsTest : public testing::Test, protected BlockObserver {
protected:
  void alloc(uint64_t address, uint64_t size, const test::Where &where = {}) {
    live.apply(test::alloc(++now_ns, address, size, where), {where.site});
  }
  void free(uint64_t address, const test::Where &where = {}) {
    const StreamEvent event = test::free(++now_ns, address, where);
    live.apply(event, {});
    if (where.flags & abi::kRealloc)
      counts.onReallocFree(event.process, event.stream);
  }
  void realloc(uint64_t from, uint64_t to, uint64_t size, uint32_t stream = 0) {
    const test::Where where{.stream = stream, .flags = abi::kRealloc};
    free(from, where);
    alloc(to, size, where);
  }
  // Returns the sums over all cohorts.
  AllocationCount all() const {
    AllocationCount sum;
    for (const AllocationCount &count : counts.byCohort())
      sum += count;
    return sum;
  }

  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    counts.onAlloc(block, cause, time_ns);
  }
  void onFree(const Block &block, FreeCause cause, uint64_t) override { counts.onFree(block, cause); }
  void onRetarget(const Block &block, const Block &before, uint64_t) override { counts.onRetarget(block, before); }

  AllocationCounts counts;
  LiveSet live{{this}};
  uint64_t now_ns = 1000;
};

} // namespace

TEST_F(AllocationCountsTest, RepeatedAreThoseBeyondTheMostThatWereAliveAtOnce) {
  for (uint64_t round = 0; round < 10; ++round) {
    for (uint64_t block = 1; block <= 3; ++block)
      alloc(block * 64, 48);
    for (uint64_t block = 1; block <= 3; ++block)
      free(block * 64);
  }
  EXPECT_EQ(all().count, 30u);
  EXPECT_EQ(all().most_alive, 3u);
  EXPECT_EQ(all().repeated(), 27u);
  EXPECT_EQ(all().temporary, 10u) << "the third of each round";
  EXPECT_EQ(all().usual_size.of(30), 48u);
  EXPECT_EQ(all().growth_steps, 0u);
}

TEST_F(AllocationCountsTest, WhatIsKeptIsNotRepeated) {
  for (uint64_t block = 1; block <= 1000; ++block)
    alloc(block * 64, 16 + block % 7);
  EXPECT_EQ(all().repeated(), 0u);
  EXPECT_EQ(all().usual_size.of(1000), std::nullopt) << "no size that most have";
}

TEST_F(AllocationCountsTest, AReallocIsAStepOfTheBlocksChain) {
  alloc(0x100, 16);
  realloc(0x100, 0x200, 32); // moves: 16 bytes are copied
  realloc(0x200, 0x200, 64); // grows in place
  realloc(0x200, 0x200, 40); // does not grow
  realloc(0x200, 0x300, 80);
  EXPECT_EQ(all().reallocs, 4u);
  EXPECT_EQ(all().growth_steps, 3u);
  EXPECT_EQ(all().longest_chain, 3u);
  EXPECT_EQ(all().copied_bytes, 16u + 40u);
  EXPECT_EQ(all().repeated(), 4u);
  EXPECT_EQ(all().temporary, 0u);
}

TEST_F(AllocationCountsTest, ReallocsOfTwoThreadsDoNotMix) {
  alloc(0x100, 16);
  alloc(0x500, 1000, {.stream = 1});
  free(0x100, kGrowth);
  free(0x500, {.stream = 1, .flags = abi::kRealloc});
  alloc(0x200, 32, kGrowth);
  alloc(0x600, 2000, {.stream = 1, .flags = abi::kRealloc});
  EXPECT_EQ(all().copied_bytes, 1016u);
  EXPECT_EQ(all().longest_chain, 1u);
}

TEST_F(AllocationCountsTest, ARefusedReallocKeepsTheChain) {
  alloc(0x100, 16);
  realloc(0x100, 0x200, 32);
  free(0x200, kGrowth);
  live.apply(test::alloc(++now_ns, 0x200, 0, {.flags = abi::kRealloc | abi::kRestored}), {});
  realloc(0x200, 0x300, 64);
  EXPECT_EQ(all().growth_steps, 2u);
  EXPECT_EQ(all().longest_chain, 2u);
  EXPECT_EQ(all().count, 3u) << "what was restored is not allocated again";
}

// std::vector and std::string grow like this: they allocate a block of twice the size, and then free the smaller block.
TEST_F(AllocationCountsTest, AContainerThatDoublesGrows) {
  alloc(0x100, 31);
  alloc(0x200, 61);
  free(0x100);
  alloc(0x300, 121);
  free(0x200);
  EXPECT_EQ(all().growth_steps, 2u);
  EXPECT_EQ(all().longest_chain, 2u);
  EXPECT_EQ(all().copied_bytes, 92u);
  EXPECT_EQ(all().reallocs, 0u);
  free(0x300);
  EXPECT_EQ(all().temporary, 1u) << "the last one, which was freed before another one was allocated";
}

TEST_F(AllocationCountsTest, OtherFreesAreNoGrowth) {
  alloc(0x100, 100);
  alloc(0x200, 200, {.site = 1}); // allocated at another place
  free(0x100);
  alloc(0x300, 100);
  alloc(0x400, 150); // less than twice the size
  free(0x300);
  EXPECT_EQ(all().growth_steps, 0u);
}

// A wrapper such as xrealloc() calls realloc(). The allocation and the growth step must count for the wrapper's caller.
TEST_F(AllocationCountsTest, AWrappersCallerHasTheSteps) {
  alloc(0x100, 16, {.site = 1});
  live.apply(test::retarget(++now_ns, 0x100, {.site = 2}), {2});
  free(0x100, {.flags = abi::kRealloc, .site = 1});
  alloc(0x200, 32, {.flags = abi::kRealloc, .site = 1});
  live.apply(test::retarget(++now_ns, 0x200, {.site = 2}), {2});
  for (uint32_t index = 1; index < counts.byCohort().size(); ++index) {
    const AllocationCount &count = counts.byCohort()[index];
    if (index >= live.cohorts().size() || count.most_alive == 0)
      continue;
    EXPECT_EQ(live.cohorts()[{index}].site, SiteId{2});
    EXPECT_EQ(count.count, 2u);
    EXPECT_EQ(count.growth_steps, 1u);
    EXPECT_EQ(count.copied_bytes, 16u);
    EXPECT_EQ(count.longest_chain, 1u);
  }
  EXPECT_EQ(all().count, 2u);
  EXPECT_EQ(all().repeated(), 1u);
}

TEST_F(AllocationCountsTest, LargeBlocksHaveTheirOwnPages) {
  alloc(0x1000, 64 << 20);
  free(0x1000);
  alloc(0x1000, 1 << 20);
  EXPECT_EQ(all().own_pages, 1u);
  EXPECT_EQ(all().own_pages_bytes, 64u << 20);
}

TEST_F(AllocationCountsTest, TimesAreThoseOfThreadsAndOfTheProcess) {
  now_ns = 4999;
  alloc(0x100, 16);
  now_ns = 6999;
  alloc(0x200, 16, {.stream = 1});
  now_ns = 8999;
  alloc(0x300, 16, {.stream = 1});
  EXPECT_EQ(counts.nsOfThread(1, 0), 0u);
  EXPECT_EQ(counts.nsOfThread(1, 1), 2000u);
  EXPECT_EQ(counts.ofProcesses()[1].ns(), 4000u);
  counts.onProcessEnd(1, 12000);
  EXPECT_EQ(counts.ofProcesses()[1].ns(), 7000u);
  EXPECT_EQ(counts.ofProcesses()[2].ns(), 0u);
}

} // namespace msleaks::analysis
