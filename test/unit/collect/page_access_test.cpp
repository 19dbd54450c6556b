// Tests the collector's reading of page tables, which shows the pages of a block that the process has touched.
#include "analysis/reach/page_access.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kLeast = 65536, kSize = 1 << 20;

struct Looked {
  uint64_t address, size, allocated_ns, touched;
  auto operator<=>(const Looked &) const = default;
};

class PageAccessTest : public testing::Test {
protected:
  void SetUp() override {
    if (!access.works())
      GTEST_SKIP() << "this kernel tells no pages";
    page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    memory = static_cast<char *>(
        mmap(nullptr, 2 * kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, 2 * kSize, MADV_NOHUGEPAGE);
    address = reinterpret_cast<uintptr_t>(memory);
  }
  void TearDown() override {
    if (memory)
      munmap(memory, 2 * kSize);
  }

  template <class Event> void tell(Event event) { access.onEvent(abi::AnyEvent::from(event).slots[0]); }
  void alloc(uint64_t at, uint64_t size, uint64_t time_ns, abi::Heap heap = abi::Heap::Host, uint16_t flags = 0) {
    tell(abi::AllocEvent{{abi::EventKind::Alloc, heap, 0, flags, 0, time_ns}, at, size});
  }
  void free(uint64_t at, uint64_t time_ns, uint64_t size = 0, abi::Heap heap = abi::Heap::Host) {
    tell(abi::FreeEvent{{abi::EventKind::Free, heap, 0, 0, 0, time_ns}, at, size});
  }
  // Returns the reported changes. Checks that the final event says that all pages were read, and leaves this event out.
  std::vector<Looked> look() {
    std::vector<Looked> list;
    const std::vector<abi::Slot> &slots = access.look(readMonotonicNs());
    for (size_t i = 0; i + 1 < slots.size(); i += 2) {
      EXPECT_TRUE(abi::isWholeEvent(&slots[i], 2));
      const auto event = abi::AnyEvent{{slots[i], slots[i + 1]}}.as<abi::PagesEvent>();
      list.push_back({event.address, event.size, event.allocated_ns, event.touched});
    }
    if (!list.empty()) {
      EXPECT_EQ(list.back().address, 0u);
      list.pop_back();
    }
    return list;
  }

  abi::LargeBlocks told{};
  PageAccess access{static_cast<uint32_t>(getpid()), kLeast, &told};
  char *memory = nullptr;
  uint64_t address = 0, page = 0;
};

TEST_F(PageAccessTest, SaysWhatIsTouched) {
  alloc(address, kSize, 10);
  EXPECT_EQ(look(), (std::vector<Looked>{{address, kSize, 10, 0}}));
  EXPECT_EQ(look(), std::vector<Looked>{}) << "nothing has changed";
  memory[3 * page] = 1;
  EXPECT_EQ(look(), (std::vector<Looked>{{address, kSize, 10, page}}));
  std::memset(memory, 1, kSize);
  EXPECT_EQ(look(), (std::vector<Looked>{{address, kSize, 10, kSize}}));
}

// The collector lists the largest blocks that have untouched pages (at most kLargeBlocks). Before the process frees a
// listed block, the runtime reads the state of the block's pages once more.
TEST_F(PageAccessTest, TellsTheProcessOfBlocksOfWhichMoreMayBeTouched) {
  const auto isTold = [&](uint64_t at) {
    const uint32_t bit = abi::largeBitOf(at);
    const bool is_listed = std::any_of(std::begin(told.blocks), std::end(told.blocks),
                                       [&](const abi::LargeBlock &block) { return block.address == at; });
    return is_listed && (told.filter[bit / 64] >> bit % 64 & 1) != 0;
  };
  alloc(address, kSize, 10);
  alloc(address + kSize, kSize, 11);
  EXPECT_TRUE(isTold(address) && isTold(address + kSize));
  std::memset(memory, 1, kSize);
  look();
  EXPECT_FALSE(isTold(address)) << "all of it is touched";
  free(address + kSize, 20);
  EXPECT_FALSE(isTold(address + kSize));
  EXPECT_TRUE(std::all_of(std::begin(told.filter), std::end(told.filter), [](const auto &word) { return word == 0; }));
  for (uint64_t i = 0; i < uint64_t{2} * abi::kLargeBlocks; ++i)
    alloc((i + 1) << 40, kLeast + i, 30);
  EXPECT_FALSE(isTold(uint64_t{1} << 40)) << "larger ones took its place";
  EXPECT_TRUE(isTold(uint64_t{2} * abi::kLargeBlocks << 40));
}

// The collector reads the page tables in portions. Between two portions, the program may allocate and free blocks.
TEST_F(PageAccessTest, MuchMemoryIsLookedAtInParts) {
  constexpr uint64_t kMuch = uint64_t{3} << 30;
  auto *much = static_cast<char *>(
      mmap(nullptr, kMuch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(much, MAP_FAILED);
  madvise(much, kMuch, MADV_NOHUGEPAGE);
  const auto at = reinterpret_cast<uintptr_t>(much);
  much[0] = much[kMuch - 1] = 1;
  alloc(at, kMuch, 10);
  EXPECT_TRUE(access.look(readMonotonicNs()).empty());
  EXPECT_TRUE(access.isDue(readMonotonicNs())) << "it goes on at once";
  alloc(address, kSize, 11);
  std::vector<Looked> list;
  for (int part = 0; part < 10 && list.empty(); ++part)
    list = look();
  std::sort(list.begin(), list.end());
  std::vector<Looked> expected{{address, kSize, 11, 0}, {at, kMuch, 10, 2 * page}};
  std::sort(expected.begin(), expected.end());
  if (at < address) // otherwise the block is in a portion that was read before its allocation
    EXPECT_EQ(list, expected);
  else
    EXPECT_EQ(list, (std::vector<Looked>{{at, kMuch, 10, 2 * page}}));
  munmap(much, kMuch);
}

TEST_F(PageAccessTest, ReadingTouches) {
  alloc(address, kSize, 10);
  look();
  EXPECT_EQ(*const_cast<volatile char *>(memory + page), 0);
  EXPECT_EQ(look(), (std::vector<Looked>{{address, kSize, 10, page}}));
}

TEST_F(PageAccessTest, WhatIsGivenBackWasTouched) {
  alloc(address, kSize, 10);
  std::memset(memory, 1, kSize);
  look();
  madvise(memory, kSize, MADV_DONTNEED);
  EXPECT_EQ(look(), std::vector<Looked>{});
}

TEST_F(PageAccessTest, PagesAtTheEndsAreSharedWithOthers) {
  const uint64_t from = address + 16, size = kSize;
  memory[0] = 1; // the page before the block
  alloc(from, size, 10);
  EXPECT_EQ(look(), (std::vector<Looked>{{from, size, 10, 0}}));
  memory[kSize + page / 2] = 1; // the page after the block
  EXPECT_EQ(look(), std::vector<Looked>{});
  memory[20] = 1;
  EXPECT_EQ(look(), (std::vector<Looked>{{from, size, 10, page - 16}}));
  memory[kSize + 1] = 1;
  EXPECT_EQ(look(), (std::vector<Looked>{{from, size, 10, page}}));
}

TEST_F(PageAccessTest, SmallBlocksAndFilesAreLeftOut) {
  alloc(address, kLeast - 1, 10);
  alloc(address + kSize, kSize, 10, abi::Heap::Mapping, abi::kReserve);
  alloc(address + kSize, kSize, 10, abi::Heap::Mapping, abi::kFile);
  alloc(address + kSize, kSize, 10, abi::Heap::Mapping, abi::kListed);
  alloc(address + kSize, kSize, 10, abi::Heap::Mapping, abi::kRealloc);
  alloc(address + kSize, kSize, 10, abi::Heap::Device);
  EXPECT_TRUE(access.look(readMonotonicNs()).empty());
}

// Ranges that reach past the end of the address space occur only if the memory of a ring is damaged. The collector must
// ignore them.
TEST_F(PageAccessTest, RangesBehindTheAddressSpaceAreNoBlocks) {
  alloc(address, UINT64_MAX - 0x100, 10);
  alloc(UINT64_MAX - kSize, kSize, 10);
  alloc(address + kSize, uint64_t{1} << 62, 10);
  EXPECT_TRUE(access.look(readMonotonicNs()).empty());
  alloc(address, kSize, 20);
  EXPECT_EQ(look(), (std::vector<Looked>{{address, kSize, 20, 0}}));
  free(address - page, 30, UINT64_MAX - 0x100);
  EXPECT_TRUE(look().empty());
}

TEST_F(PageAccessTest, BlocksThatAreFreedAreLookedAtNoMore) {
  alloc(address, kSize, 10);
  alloc(address + kSize, kSize, 10, abi::Heap::Mapping);
  free(address, 20);
  free(address + kSize + page, 20, page, abi::Heap::Mapping); // the remaining pages no longer count as this block
  EXPECT_TRUE(look().empty());
}

TEST_F(PageAccessTest, ThreadsTellOneAfterTheOther) {
  alloc(address, kSize, 30); // another thread allocated this block after the free at time 20
  alloc(address, 2 * kSize, 10);
  free(address, 20);
  EXPECT_EQ(look(), (std::vector<Looked>{{address, kSize, 30, 0}}));
}

TEST_F(PageAccessTest, LooksTakeASmallPartOfTheTime) {
  EXPECT_FALSE(access.isDue(1)) << "there is nothing to look at";
  alloc(address, kSize, 10);
  EXPECT_TRUE(access.isDue(11));
  const uint64_t now_ns = readMonotonicNs();
  access.look(now_ns);
  EXPECT_FALSE(access.isDue(now_ns + 9'000'000));
}

// If nothing changes, the collector reads the page tables less and less often. So the trace of an idle program hardly
// grows, and the program costs almost no time.
TEST_F(PageAccessTest, LooksGrowSeldomWhereNothingChanges) {
  constexpr uint64_t kMinute = 60'000'000'000;
  alloc(address, kSize, 10);
  const uint64_t begin_ns = readMonotonicNs();
  uint64_t looks = 0;
  for (uint64_t now_ns = begin_ns; now_ns < begin_ns + kMinute; now_ns += 10'000'000)
    if (access.isDue(now_ns)) {
      access.look(now_ns);
      ++looks;
    }
  EXPECT_GT(looks, 50u);
  EXPECT_LT(looks, 300u) << "of 6,000";
  alloc(address + kSize, kSize, begin_ns + kMinute);
  EXPECT_TRUE(access.isDue(begin_ns + kMinute + 2'000'000'000)) << "a new block is looked at soon";
}

// The final event of a reading says that all pages were read. The event is needed only while some block is entirely
// untouched.
TEST_F(PageAccessTest, WhereAllBlocksAreTouchedALookWithoutAChangeSaysNothing) {
  alloc(address, kSize, 10);
  memory[0] = 1;
  look();
  EXPECT_TRUE(access.look(readMonotonicNs()).empty());
}

TEST_F(PageAccessTest, BehindTheLookAtTheExitNoneIsDue) {
  alloc(address, kSize, 10);
  access.look(readMonotonicNs());
  EXPECT_TRUE(access.isDue(readMonotonicNs() + 1'000'000'000));
  access.look(readMonotonicNs(), true);
  EXPECT_FALSE(access.isDue(readMonotonicNs() + 1'000'000'000'000));
}

} // namespace
} // namespace msleaks::analysis
