// Tests the live set with blocks from their allocation to their free. The events of different threads are in the right
// order here.
#include "live_set_fixture.h"

namespace msleaks::analysis {

using test::alloc;
using test::Where;

TEST_F(LiveSetTest, AllocAndFree) {
  apply(alloc(1, 0x10, 100, {.site = 7}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  ASSERT_NE(live.find(1, AddressSpace::Host, 0x10), nullptr);
  apply(test::free(2, 0x10));
  EXPECT_EQ(journal.take(), "+10:100@7 alloc\n-10:100@7 free\n");
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.find(1, AddressSpace::Host, 0x10), nullptr);
}

TEST_F(LiveSetTest, BehindAPauseAFreeOfAnUnknownBlockIsNoFault) {
  apply(test::free(1, 0x10));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
  apply(alloc(2, 0x20, 1));
  apply(test::epoch(10, 0));
  apply(test::epoch(20, ~0u));
  apply(test::free(1000000, 0x10));
  apply(alloc(1000001, 0x20, 2));
  apply(alloc(1000002, 0x20, 3));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
  EXPECT_EQ(live.counts().frees_before_start, 1u);
  EXPECT_EQ(live.counts().freed_unseen, 1u);
  EXPECT_EQ(live.counts().implicit_frees, 1u) << "both of the last two were recorded";
}

TEST_F(LiveSetTest, ProcessesAndSpacesAreApart) {
  apply(alloc(1, 0x1000, 1));
  apply(alloc(2, 0x1000, 2, {.process = 2}));
  apply(alloc(3, 0x1000, 3, {.heap = abi::Heap::Pool}));
  apply(alloc(4, 0x1000, 4, {.heap = abi::Heap::Device})); // this handle is also the address of a host block
  apply(alloc(5, 0x1000, 5, kMap));
  EXPECT_EQ(live.liveBlocks(), 5u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  apply(test::free(6, 0x1000, {.process = 2}));
  EXPECT_EQ(live.liveBlocks(), 4u);
  EXPECT_EQ(live.processes(), (std::vector<uint32_t>{1, 2}));
  apply(test::free(7, 0x1000, {.process = 3}));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
}

TEST_F(LiveSetTest, ManagedMemoryIsGivenBackAsDevice) {
  apply(alloc(1, 0x1000, 1, {.heap = abi::Heap::Managed}));
  apply(test::free(2, 0x1000, {.heap = abi::Heap::Device}));
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveSetTest, AllocOnALiveAddressFreesTheOldOne) {
  apply(alloc(1, 0x10, 1, {.site = 1}));
  apply(alloc(2, 0x10, 2, {.site = 2}));
  EXPECT_EQ(journal.take(), "+10:1@1 alloc\n-10:1@1 replaced\n+10:2@2 alloc\n");
  EXPECT_EQ(live.counts().implicit_frees, 1u);
  EXPECT_EQ(live.liveBlocks(), 1u);
}

TEST_F(LiveSetTest, ReallocMovesOrComesBack) {
  const Where realloc{.stream = 3, .flags = abi::kRealloc, .site = 2};
  apply(alloc(1, 0x10, 1, {.stream = 3, .site = 1}));
  apply(test::free(2, 0x10, realloc));
  apply(alloc(3, 0x10, 9, {.stream = 4, .site = 5})); // another thread gets the address at once
  apply(alloc(4, 0x90, 5, realloc));
  EXPECT_EQ(journal.take(), "+10:1@1 alloc\n-10:1@1 realloc\n+10:9@5 alloc\n+90:5@2 realloc\n");

  apply(test::free(5, 0x90, realloc));
  apply(alloc(6, 0, 0, {.stream = 3, .flags = abi::kRealloc | abi::kRestored}));
  EXPECT_EQ(journal.take(), "-90:5@2 realloc\n+90:5@2 restored\n");
  ASSERT_NE(live.find(1, AddressSpace::Host, 0x90), nullptr);
  EXPECT_EQ(live.find(1, AddressSpace::Host, 0x90)->time_ns, 4u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
}

TEST_F(LiveSetTest, FailedReallocOfAnUnknownBlockChangesNothing) {
  const Where realloc{.flags = abi::kRealloc};
  apply(test::free(1, 0x10, realloc));
  apply(alloc(2, 0x10, 0, {.flags = abi::kRealloc | abi::kRestored}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
}

TEST_F(LiveSetTest, ARefusedFreeBringsTheBlockBack) {
  const Where device{.heap = abi::Heap::Device}, refused{.heap = abi::Heap::Device, .flags = abi::kRestored};
  apply(alloc(1, 0x10, 100, device));
  apply(test::free(2, 0x10, device));
  apply(alloc(3, 0x10, 0, refused));
  EXPECT_EQ(journal.bytes, 100u);
  apply(test::retain(4, 0x10, device));
  apply(test::free(5, 0x10, device)); // one of two references is released
  apply(alloc(6, 0x10, 0, refused));
  apply(test::free(7, 0x10, device));
  EXPECT_EQ(journal.bytes, 100u);
  apply(test::free(8, 0x10, device));
  EXPECT_EQ(journal.bytes, 0u);
  apply(alloc(9, 0x20, 0, refused)); // no block has this address
  EXPECT_EQ(journal.bytes, 0u);
}

// The driver refuses to free a list of blocks, one of which is unknown. The refusal must make the known blocks of the
// list alive again.
TEST_F(LiveSetTest, ARefusedFreeOfAListBringsEachBlockBack) {
  const Where shared{.heap = abi::Heap::Managed}, listed{.heap = abi::Heap::Managed, .flags = abi::kListed},
      refused{.heap = abi::Heap::Managed, .flags = abi::kRestored};
  for (const uint64_t block : {0x10, 0x20, 0x40, 0x50})
    apply(alloc(1, block, block, shared));
  apply(test::free(2, 0x50, shared)); // this free succeeds, so it does not belong to the refused call
  apply(test::free(3, 0x10, shared));
  for (const uint64_t block : {0x20, 0x30, 0x40})
    apply(test::free(4, block, listed));
  EXPECT_EQ(live.liveBlocks(), 0u);
  for (const uint64_t block : {0x40, 0x30, 0x20, 0x10})
    apply(alloc(5, block, 0, refused));
  EXPECT_EQ(journal.bytes, 0x70u);
  apply(alloc(6, 0x50, 0, refused));
  EXPECT_EQ(live.liveBlocks(), 3u);
}

// The device of PoCL (an OpenCL driver) is the host's processor. So the block comes from malloc(), and lives until
// free().
TEST_F(LiveSetTest, SharedMemoryThatADriverHasFromMallocIsTheHostsBlock) {
  const Where shared{.heap = abi::Heap::Managed};
  apply(alloc(1, 0x10, 8, {.site = 1}));
  apply(test::retarget(2, 0x10, {.heap = abi::Heap::Managed, .site = 4}));
  apply(test::free(3, 0x10, shared));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(4, 0x10));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  apply(test::free(5, 0x10, shared));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
}

TEST_F(LiveSetTest, RetargetMovesABlockToAnotherSite) {
  apply(alloc(1, 0x10, 8, {.site = 1}));
  apply(test::retarget(2, 0x10, {.site = 4}));
  EXPECT_EQ(journal.take(), "+10:8@1 alloc\n=10:8@4 from 1\n");
  apply(test::retarget(3, 0x999));
  EXPECT_EQ(live.counts().unmatched_retargets, 1u);
  apply(test::free(4, 0x10));
  EXPECT_EQ(journal.take(), "-10:8@4 free\n");
}

TEST_F(LiveSetTest, CountedBlocksDieWithTheirLastOwner) {
  const Where device{.heap = abi::Heap::Device};
  apply(alloc(1, 0x10, 8, device));
  apply(test::retain(2, 0x10, device));
  apply(test::free(3, 0x10, device));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(4, 0x10, device));
  EXPECT_EQ(live.liveBlocks(), 0u);
}

// The driver or the kernel refuses a second free of a block. This refusal must not make the block alive again.
TEST_F(LiveSetTest, ASecondFreeThatIsRefusedIsNoBlock) {
  for (const auto heap : {abi::Heap::Device, abi::Heap::Mapping}) {
    const Where where{.heap = heap}, restored{.heap = heap, .flags = abi::kRestored};
    apply(alloc(1, 0x10000, kPage, where));
    apply(test::free(2, 0x10000, where));
    apply(test::free(3, 0x10000, where));
    apply(alloc(4, 0x10000, 0, restored));
    EXPECT_EQ(live.liveBlocks(), 0u);
  }
  EXPECT_EQ(live.counts().unmatched_frees, 2u);
}

TEST_F(LiveSetTest, ProcessEndTakesItsBlocksOnly) {
  apply(alloc(1, 0x10, 1, {.site = 1}));
  apply(alloc(2, 0x10000, kPage, kMap));
  apply(alloc(3, 0x10, 2, {.process = 2, .site = 2}));
  journal.take();
  live.endProcess(1, FreeCause::ProcessKilled, 9);
  EXPECT_EQ(journal.take(), "-10:1@1 kill\n-10000:4096@0 kill\n");
  EXPECT_EQ(live.liveBlocks(), 1u);
  live.endProcess(1, FreeCause::ProcessExited, 9);
  live.endProcess(77, FreeCause::ProcessExited, 9);
  EXPECT_EQ(journal.take(), "");
  live.endProcess(2, FreeCause::ProcessExited, 10);
  EXPECT_EQ(journal.take(), "-10:2@2 exit\n");
}

// An annotated wrapper calls malloc and free. Its free is recorded twice: for the wrapper (heap Pool), and for the
// inner free. Both belong to the same block, which lives until the inner free.
TEST_F(LiveSetTest, TheFreeOfAWrapperIsMatched) {
  apply(alloc(1, 0x10, 5));
  apply(test::retarget(2, 0x10, {.heap = abi::Heap::Pool, .site = 4}));
  apply(test::free(3, 0x10, {.heap = abi::Heap::Pool}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(4, 0x10));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  apply(test::free(5, 0x10, {.heap = abi::Heap::Pool}));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
}

// Code without instrumentation, such as Rust's std, called the wrapper to allocate the block. So only the inner malloc
// is recorded. The wrapper's free must not count as unmatched.
TEST_F(LiveSetTest, TheFreeOfAWrapperIsMatchedWithoutItsAllocation) {
  apply(alloc(1, 0x10, 5));
  apply(test::free(2, 0x10, {.heap = abi::Heap::Pool}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(3, 0x10));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

// In the table of blocks, address 0 marks an empty slot. So no block may have the address 0.
TEST_F(LiveSetTest, AddressZeroIsNoBlock) {
  apply(alloc(1, 0x10, 5));
  for (int i = 0; i < 3; ++i)
    apply(test::free(2, 0));
  apply(test::retain(3, 0));
  apply(test::retarget(4, 0, {.site = 3}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  EXPECT_EQ(live.counts().unmatched_frees, 3u);
  EXPECT_EQ(live.counts().unmatched_retargets, 2u);
  EXPECT_EQ(journal.take(), "+10:5@0 alloc\n");
  EXPECT_EQ(live.find(1, AddressSpace::Host, 0), nullptr);
}

TEST_F(LiveSetTest, FailuresAreCounted) {
  apply(test::allocFailed(1, 1 << 30));
  EXPECT_EQ(live.counts().failed_allocs, 1u);
  EXPECT_EQ(live.liveBlocks(), 0u);
  apply(alloc(2, 0x10, 1, {.heap = abi::Heap::Count}));
  EXPECT_EQ(live.counts().unknown_heaps, 1u);
}

TEST_F(LiveSetTest, HostileNumbersDoNoHarm) {
  apply(alloc(1, UINT64_MAX, UINT64_MAX, kMap));
  apply(alloc(2, UINT64_MAX - 100, UINT64_MAX, kMap));
  apply(alloc(3, 5, 0, kMap));
  apply(alloc(4, 5, 0, kMap));
  apply(test::free(5, 0, kMap, UINT64_MAX));
  live.endProcess(1, FreeCause::ProcessExited, 6);
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.blocks, 0u);
}

} // namespace msleaks::analysis
