#include "msleaks/analysis/live_set.h"

#include "events.h"

#include <gtest/gtest.h>
#include <string>

namespace msleaks::analysis {

using test::alloc;
using test::Where;

namespace {

// Keeps what it is told, as text, and the sum of what is alive.
class Journal final : public BlockObserver {
public:
  void onAlloc(const Block &block, AllocCause cause, uint64_t) override {
    static const char *const kNames[] = {"alloc", "realloc", "restored", "rest"};
    add("+", block, kNames[static_cast<int>(cause)]);
    bytes += block.bytes();
    ++blocks;
  }
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    static const char *const kNames[] = {"free", "realloc", "replaced", "rest", "exit", "kill", "exec", "alive"};
    add("-", block, kNames[static_cast<int>(cause)]);
    bytes -= block.bytes();
    --blocks;
  }
  void onRetarget(const Block &block, SiteId from, uint64_t) override {
    add("=", block, ("from " + std::to_string(from.index)).c_str());
  }
  std::string take() { return std::exchange(lines, {}); }

  std::string lines;
  uint64_t bytes = 0, blocks = 0;

private:
  void add(const char *sign, const Block &block, const char *cause) {
    char line[128];
    snprintf(line, sizeof line, "%s%llx:%llu@%u %s\n", sign, static_cast<unsigned long long>(block.address),
             static_cast<unsigned long long>(block.size), block.site.index, cause);
    lines += line;
  }
};

class LiveSetTest : public testing::Test {
protected:
  Journal journal;
  LiveSet live{{&journal}};
  void apply(const StreamEvent &event) { live.apply(event, SiteId{event.event.header().site}); }
};

constexpr Where kMap{.heap = abi::Heap::Mapping};
constexpr uint64_t kPage = 4096;

} // namespace

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
  apply(alloc(4, 0x1000, 4, {.heap = abi::Heap::Device})); // a handle that is itself a host block
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

TEST_F(LiveSetTest, LateFreeOfAnotherThreadBelongsToTheOldBlock) {
  apply(alloc(1000, 0x10, 1, {.stream = 1, .site = 1}));
  apply(alloc(2000, 0x10, 2, {.stream = 2, .site = 2}));
  apply(test::free(2500, 0x10, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  EXPECT_EQ(live.counts().late_frees, 1u);
  apply(test::free(2600, 0x10, {.stream = 1})); // the second one is real
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveSetTest, FreeOfTheSameThreadOrMuchLaterIsReal) {
  apply(alloc(1000, 0x10, 1, {.stream = 1}));
  apply(alloc(2000, 0x10, 2, {.stream = 2}));
  apply(test::free(2500, 0x10, {.stream = 2}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  apply(alloc(3000, 0x20, 1, {.stream = 1}));
  apply(alloc(4000, 0x20, 2, {.stream = 2}));
  apply(test::free(1'000'000, 0x20, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveSetTest, EarlyFreeOfAnotherThreadEndsTheBlock) {
  apply(test::free(1000, 0x10, {.stream = 2}));
  apply(alloc(1016, 0x10, 1, {.stream = 1, .site = 1}));
  EXPECT_EQ(journal.take(), "+10:1@1 alloc\n-10:1@1 free\n");
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  EXPECT_EQ(live.counts().early_frees, 1u);
  apply(alloc(2000, 0x10, 2, {.stream = 1, .site = 2})); // one free ends one block
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(2100, 0x10, {.stream = 2}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
}

TEST_F(LiveSetTest, UnmatchedFreeOfTheSameThreadOrLongAgoEndsNothing) {
  apply(test::free(1000, 0x10, {.stream = 1}));
  apply(alloc(1010, 0x10, 1, {.stream = 1}));
  apply(test::free(2000, 0x20, {.stream = 2}));
  apply(alloc(9000, 0x20, 1, {.stream = 1}));
  apply(test::free(9500, 0x30, {.stream = 2}));
  apply(alloc(9600, 0x30, 1, {.stream = 1, .heap = abi::Heap::Device})); // another address space
  EXPECT_EQ(live.liveBlocks(), 3u);
  EXPECT_EQ(live.counts().unmatched_frees, 3u);
  EXPECT_EQ(live.counts().early_frees, 0u);
}

// No two threads' times of one hand-over are so far apart: it is another block's free.
TEST_F(LiveSetTest, AMicrosecondIsTooLongForAnEarlyOrALateFree) {
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

// Recording began later: the free of a block from before may be followed at once by another thread's use of its
// address. Taken for an early free, it costs that block and no more: nothing is called a leak, and its own free is
// unknown then.
TEST_F(LiveSetTest, AFreeFromBeforeTheStartThatLooksEarlyMakesNoLeakAndNoFault) {
  apply(test::epoch(10, 0));
  apply(test::epoch(20, ~0u));
  apply(test::free(1000, 0x10, {.stream = 2}));
  apply(alloc(1400, 0x10, 1, {.stream = 1}));
  apply(test::free(9000, 0x10, {.stream = 1}));
  apply(test::free(19'000, 0x20, {.stream = 2})); // and longer after it, not at all
  apply(alloc(20'400, 0x20, 1, {.stream = 1}));
  apply(test::free(29'000, 0x20, {.stream = 1}));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  EXPECT_EQ(live.counts().frees_before_start, 2u);
}

// A handle goes to two threads: each retains it, and gives it back, all before its allocation by the times.
TEST_F(LiveSetTest, EarlyRetainsCountBeforeEarlyFrees) {
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

TEST_F(LiveSetTest, EarlyFreesMayBeReallocsOrMappings) {
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

TEST_F(LiveSetTest, MappingOverAMappingGivesItBack) {
  apply(alloc(1000, 0x10000, 4 * kPage, {.stream = 1, .heap = abi::Heap::Mapping}));
  apply(alloc(2000, 0x10000, 4 * kPage, {.stream = 1, .heap = abi::Heap::Mapping}));
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  apply(test::free(2500, 0x10000, {.stream = 2, .heap = abi::Heap::Mapping}, 4 * kPage));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().late_frees, 0u);
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
  apply(test::free(5, 0x10, device)); // one of two owners
  apply(alloc(6, 0x10, 0, refused));
  apply(test::free(7, 0x10, device));
  EXPECT_EQ(journal.bytes, 100u);
  apply(test::free(8, 0x10, device));
  EXPECT_EQ(journal.bytes, 0u);
  apply(alloc(9, 0x20, 0, refused)); // nobody knows that block
  EXPECT_EQ(journal.bytes, 0u);
}

TEST_F(LiveSetTest, ARefusedMunmapLeavesTheMapping) {
  apply(alloc(1, 0x10000, 4 * kPage, kMap));
  apply(test::free(2, 0x10000, kMap, 2 * kPage));
  apply(alloc(3, 0x10000, 2 * kPage, {.heap = abi::Heap::Mapping, .flags = abi::kRestored}));
  EXPECT_EQ(journal.bytes, 4 * kPage);
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

// What is refused, because it was freed before, brings nothing back.
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

TEST_F(LiveSetTest, ReservedAddressSpaceHasNoBytes) {
  apply(alloc(1, 0x10000, 64 * kPage, {.heap = abi::Heap::Mapping, .flags = abi::kReserve}));
  EXPECT_EQ(journal.bytes, 0u);
  apply(alloc(2, 0x10000 + 4 * kPage, 2 * kPage, kMap)); // committed by mapping over a part
  EXPECT_EQ(journal.bytes, 2 * kPage);
  EXPECT_EQ(live.liveBlocks(), 3u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  apply(test::free(3, 0x10000, kMap, 64 * kPage));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.bytes, 0u);
}

// Reserved, made usable in parts, and a part given back: what a mapping over it does, mprotect does, too.
TEST_F(LiveSetTest, ProtectionMakesMemoryOfAReserveAndBack) {
  const Where reserve{.heap = abi::Heap::Mapping, .flags = abi::kReserve, .site = 3};
  apply(alloc(1, 0x10000, 64 * kPage, reserve));
  apply(test::protect(2, 0x10000 + 4 * kPage, 2 * kPage - 100, 0)); // up to the end of its page
  EXPECT_EQ(journal.bytes, 2 * kPage);
  EXPECT_EQ(live.liveBlocks(), 3u);
  const Block *made = live.find(1, AddressSpace::Mapping, 0x10000 + 4 * kPage);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->site.index, 3u);
  EXPECT_EQ(made->time_ns, 1u);
  journal.take();
  apply(test::protect(3, 0x10000 + 4 * kPage, kPage, 0)); // writable or not: memory as before
  EXPECT_EQ(journal.take(), "");
  apply(test::protect(4, 0x10000 + 6 * kPage, kPage, 0)); // the next one: one block with the first
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

TEST_F(LiveSetTest, ProtectionOfSeveralMappingsAndOfNone) {
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

// What mremap moves stays what it was.
TEST_F(LiveSetTest, AMovedReserveHasNoBytes) {
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

// A kernel with pages of 64 KiB takes all of a page of which a part is named, and no more.
TEST_F(LiveSetTest, PagesAreThoseOfTheProcess) {
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

TEST_F(LiveSetTest, MunmapCutsHeadTailAndMiddle) {
  apply(alloc(1, 0x10000, 10 * kPage - 100, kMap));
  apply(test::free(2, 0x10000, kMap, kPage)); // head
  EXPECT_EQ(journal.bytes, 9 * kPage - 100);
  ASSERT_NE(live.find(1, AddressSpace::Mapping, 0x11000), nullptr);
  EXPECT_EQ(live.find(1, AddressSpace::Mapping, 0x11000)->time_ns, 1u);
  apply(test::free(3, 0x10000 + 9 * kPage, kMap, kPage)); // tail: asked for less than its page
  EXPECT_EQ(journal.bytes, 8 * kPage);
  apply(test::free(4, 0x10000 + 4 * kPage, kMap, 1)); // middle: whole pages go
  EXPECT_EQ(journal.bytes, 7 * kPage);
  EXPECT_EQ(live.liveBlocks(), 2u);
  apply(alloc(5, 0x10000 + 10 * kPage, kPage, kMap));
  apply(test::free(6, 0, kMap, 0x10000 + 100 * kPage)); // several at once
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.bytes, 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

TEST_F(LiveSetTest, MovedMappingComesBackWhenMremapFails) {
  apply(alloc(1, 0x10000, 4 * kPage, kMap));
  const Where realloc{.heap = abi::Heap::Mapping, .flags = abi::kRealloc};
  apply(test::free(2, 0x10000, realloc, 2 * kPage));
  EXPECT_EQ(journal.bytes, 2 * kPage);
  apply(alloc(3, 0, 0, {.heap = abi::Heap::Mapping, .flags = abi::kRealloc | abi::kRestored}));
  EXPECT_EQ(journal.bytes, 4 * kPage);
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

// An annotated wrapper over malloc and free: its free is recorded for the heap of pools, and free's own after it.
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

// The block was made by code without the plugin, which called the same wrapper: Rust's std does so.
TEST_F(LiveSetTest, TheFreeOfAWrapperIsMatchedWithoutItsAllocation) {
  apply(alloc(1, 0x10, 5));
  apply(test::free(2, 0x10, {.heap = abi::Heap::Pool}));
  EXPECT_EQ(live.liveBlocks(), 1u);
  apply(test::free(3, 0x10));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

// Its mark in the table is that of an empty slot.
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

// Two there were one in the table and two in the sums.
TEST_F(LiveSetTest, NothingIsMappedInTheLastPage) {
  for (const uint64_t address : {UINT64_MAX, UINT64_MAX, UINT64_MAX - kPage + 1, UINT64_MAX - 2 * kPage + 1})
    apply(alloc(1, address, 0, kMap));
  EXPECT_EQ(live.liveBlocks(), 1u);
  live.endProcess(1, FreeCause::ProcessExited, 2);
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(journal.blocks, 0u);
}

TEST_F(LiveSetTest, FailuresAreCounted) {
  apply(test::allocFailed(1, 1 << 30));
  EXPECT_EQ(live.counts().failed_allocs, 1u);
  EXPECT_EQ(live.liveBlocks(), 0u);
  apply(alloc(2, 0x10, 1, {.heap = static_cast<abi::Heap>(200)}));
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
