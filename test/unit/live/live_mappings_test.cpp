// Tests the live set with mappings, also if the program unmaps or protects only a part of a mapping.
#include "live_set_fixture.h"

namespace msleaks::analysis {

using test::alloc;
using test::Where;

namespace {
using LiveMappingsTest = LiveSetTest;
} // namespace

TEST_F(LiveMappingsTest, MappingOverAMappingGivesItBack) {
  apply(alloc(1000, 0x10000, 4 * kPage, {.stream = 1, .heap = abi::Heap::Mapping}));
  apply(alloc(2000, 0x10000, 4 * kPage, {.stream = 1, .heap = abi::Heap::Mapping}));
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  apply(test::free(2500, 0x10000, {.stream = 2, .heap = abi::Heap::Mapping}, 4 * kPage));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().late_frees, 0u);
}

TEST_F(LiveMappingsTest, ARefusedMunmapLeavesTheMapping) {
  apply(alloc(1, 0x10000, 4 * kPage, kMap));
  apply(test::free(2, 0x10000, kMap, 2 * kPage));
  apply(alloc(3, 0x10000, 2 * kPage, {.heap = abi::Heap::Mapping, .flags = abi::kRestored}));
  EXPECT_EQ(journal.bytes, 4 * kPage);
}

TEST_F(LiveMappingsTest, ReservedAddressSpaceHasNoBytes) {
  apply(alloc(1, 0x10000, 64 * kPage, {.heap = abi::Heap::Mapping, .flags = abi::kReserve}));
  EXPECT_EQ(journal.bytes, 0u);
  apply(alloc(2, 0x10000 + 4 * kPage, 2 * kPage, kMap)); // makes a part of the reserve usable
  EXPECT_EQ(journal.bytes, 2 * kPage);
  EXPECT_EQ(live.liveBlocks(), 3u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  apply(test::free(3, 0x10000, kMap, 64 * kPage));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.bytes, 0u);
}

// A reserve is address space without memory. mprotect() can make a part of a reserve usable, and can make it a reserve
// again. A part that becomes usable counts like a new mapping.
TEST_F(LiveMappingsTest, ProtectionMakesMemoryOfAReserveAndBack) {
  const Where reserve{.heap = abi::Heap::Mapping, .flags = abi::kReserve, .site = 3};
  apply(alloc(1, 0x10000, 64 * kPage, reserve));
  apply(test::protect(2, 0x10000 + 4 * kPage, 2 * kPage - 100, 0)); // the kernel rounds up to the end of the page
  EXPECT_EQ(journal.bytes, 2 * kPage);
  EXPECT_EQ(live.liveBlocks(), 3u);
  const Block *made = live.find(1, AddressSpace::Mapping, 0x10000 + 4 * kPage);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->site.index, 3u);
  EXPECT_EQ(made->time_ns, 1u);
  journal.take();
  apply(test::protect(3, 0x10000 + 4 * kPage, kPage, 0)); // the page counts as memory, whether it is writable or not
  EXPECT_EQ(journal.take(), "");
  apply(test::protect(4, 0x10000 + 6 * kPage, kPage, 0)); // the next page becomes a part of the same block
  EXPECT_EQ(journal.bytes, 3 * kPage);
  EXPECT_EQ(live.liveBlocks(), 3u);
  apply(test::protect(5, 0x10000 + 5 * kPage, kPage, abi::kReserve));
  EXPECT_EQ(journal.bytes, 2 * kPage);
  EXPECT_EQ(live.liveBlocks(), 5u);
  apply(test::protect(6, 0x10000, 64 * kPage, abi::kReserve));
  EXPECT_EQ(journal.bytes, 0u);
  EXPECT_EQ(live.liveBlocks(), 1u) << "one reserve again";
  apply(test::protect(7, 0x10000, 64 * kPage, 0));
  EXPECT_EQ(journal.bytes, 64 * kPage);
  EXPECT_EQ(live.liveBlocks(), 1u);
  EXPECT_EQ(journal.blocks, live.liveBlocks());
  apply(test::free(8, 0x10000, kMap, 64 * kPage));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.bytes, 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

// The program's operator new calls mmap(), and this inner call is not recorded. The program's operator delete calls
// munmap(), which is recorded. This munmap() must not count as the free of an unknown mapping.
TEST_F(LiveMappingsTest, TheMemoryOfABlockThatWasFreedIsNoUnknownMapping) {
  apply(test::alloc(1, 0x10010, 40));
  apply(test::free(2, 0x10010));
  apply(test::free(3, 0x10000, kMap, kPage));
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  apply(test::free(4, 0x20000, kMap, kPage));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
}

TEST_F(LiveMappingsTest, ProtectionOfSeveralMappingsAndOfNone) {
  const uint16_t file = abi::kReserve | abi::kFile;
  apply(alloc(1, 0x10000, 2 * kPage, kMap));
  apply(alloc(2, 0x12000, 2 * kPage, {.heap = abi::Heap::Mapping, .flags = abi::kReserve}));
  apply(alloc(3, 0x14000, 2 * kPage, {.heap = abi::Heap::Mapping, .flags = file}));
  apply(alloc(4, 0x20000, kPage, {.process = 2, .heap = abi::Heap::Mapping, .flags = abi::kReserve}));
  apply(test::protect(5, 0x11000, 100 * kPage, 0));
  EXPECT_EQ(journal.bytes, 4 * kPage) << "a file's pages are the file's";
  EXPECT_EQ(live.liveBlocks(), 4u) << "mappings of two calls stay two blocks";
  apply(test::protect(6, 0x11000, 2 * kPage, abi::kReserve));
  EXPECT_EQ(journal.bytes, 2 * kPage);
  apply(test::protect(7, 0x80000, kPage, 0));
  apply(test::protect(8, 0, UINT64_MAX, 0));
  EXPECT_EQ(journal.bytes, 4 * kPage);
  EXPECT_EQ(journal.blocks, live.liveBlocks());
}

// A mapping that mremap moves remains the same block. So a reserve still has no bytes after a move.
TEST_F(LiveMappingsTest, AMovedReserveHasNoBytes) {
  const Where realloc{.heap = abi::Heap::Mapping, .flags = abi::kRealloc};
  for (const uint16_t flags : {uint16_t{abi::kReserve}, uint16_t(abi::kReserve | abi::kFile)}) {
    apply(alloc(1, 0x10000, 4 * kPage, {.heap = abi::Heap::Mapping, .flags = flags}));
    apply(test::free(2, 0x10000, realloc, 4 * kPage));
    apply(alloc(3, 0x40000, 8 * kPage, realloc));
    EXPECT_EQ(journal.bytes, 0u);
    apply(test::protect(4, 0x40000, 8 * kPage, 0));
    EXPECT_EQ(journal.bytes, flags & abi::kFile ? 0 : 8 * kPage);
    apply(test::free(5, 0x40000, kMap, 8 * kPage));
  }
}

// munmap() unmaps each page that contains an address of the range. Process 1 has pages of 64 KiB. The page sizes that
// are set for process 2 are invalid, so the default of 4 KiB applies.
TEST_F(LiveMappingsTest, PagesAreThoseOfTheProcess) {
  constexpr uint64_t kLarge = 65536;
  live.setPageBytes(1, kLarge);
  for (const uint64_t none : {uint64_t{0}, uint64_t{4095}, 3 * kLarge, uint64_t{1} << 40})
    live.setPageBytes(2, none);
  for (const uint32_t process : {1u, 2u}) {
    apply(alloc(1, 4 * kLarge, 2 * kLarge, {.process = process, .heap = abi::Heap::Mapping}));
    apply(test::free(2, 4 * kLarge, {.process = process, .heap = abi::Heap::Mapping}, kPage));
  }
  const Block *first = live.find(1, AddressSpace::Mapping, 5 * kLarge);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->size, kLarge);
  const Block *second = live.find(2, AddressSpace::Mapping, 4 * kLarge + kPage);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->size, 2 * kLarge - kPage);
}

TEST_F(LiveMappingsTest, MunmapCutsHeadTailAndMiddle) {
  apply(alloc(1, 0x10000, 10 * kPage - 100, kMap));
  apply(test::free(2, 0x10000, kMap, kPage)); // unmaps the beginning
  EXPECT_EQ(journal.bytes, 9 * kPage - 100);
  ASSERT_NE(live.find(1, AddressSpace::Mapping, 0x11000), nullptr);
  EXPECT_EQ(live.find(1, AddressSpace::Mapping, 0x11000)->time_ns, 1u);
  apply(test::free(3, 0x10000 + 9 * kPage, kMap, kPage)); // unmaps the end, which is shorter than a page
  EXPECT_EQ(journal.bytes, 8 * kPage);
  apply(test::free(4, 0x10000 + 4 * kPage, kMap, 1)); // unmaps a whole page in the middle
  EXPECT_EQ(journal.bytes, 7 * kPage);
  EXPECT_EQ(live.liveBlocks(), 2u);
  apply(alloc(5, 0x10000 + 10 * kPage, kPage, kMap));
  apply(test::free(6, 0, kMap, 0x10000 + 100 * kPage)); // unmaps several blocks at once
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.bytes, 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

TEST_F(LiveMappingsTest, MovedMappingComesBackWhenMremapFails) {
  apply(alloc(1, 0x10000, 4 * kPage, kMap));
  const Where realloc{.heap = abi::Heap::Mapping, .flags = abi::kRealloc};
  apply(test::free(2, 0x10000, realloc, 2 * kPage));
  EXPECT_EQ(journal.bytes, 2 * kPage);
  apply(alloc(3, 0, 0, {.heap = abi::Heap::Mapping, .flags = abi::kRealloc | abi::kRestored}));
  EXPECT_EQ(journal.bytes, 4 * kPage);
}

// The live set ignores mappings in the last page of the address space. Otherwise two of them would share one entry of
// the table, but would count twice in the sums.
TEST_F(LiveMappingsTest, NothingIsMappedInTheLastPage) {
  for (const uint64_t address : {UINT64_MAX, UINT64_MAX, UINT64_MAX - kPage + 1, UINT64_MAX - 2 * kPage + 1})
    apply(alloc(1, address, 0, kMap));
  EXPECT_EQ(live.liveBlocks(), 1u);
  live.endProcess(1, FreeCause::ProcessExited, 2);
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.blocks, 0u);
}

} // namespace msleaks::analysis
