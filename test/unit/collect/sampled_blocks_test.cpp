// Tests the sample of small blocks: which blocks are in it, and what the collector reads of them.
#include "analysis/reach/sampled_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kBlock = 32 << 10, kEnd = 1 << 20;

struct Sampled {
  uint64_t address, size, allocated_ns, needed, bits;
  bool operator==(const Sampled &) const = default;
};

class SampledBlocksTest : public testing::Test {
protected:
  void SetUp() override {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    map_bytes = kBlock + 2 * page;
    map = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(map, MAP_FAILED);
    madvise(map, map_bytes, MADV_NOHUGEPAGE);
  }
  void TearDown() override { munmap(map, map_bytes); }
  void alloc(uint64_t address, uint64_t size, uint64_t time_ns, uint16_t flags = 0) {
    const abi::AllocEvent event{{abi::EventKind::Alloc, abi::Heap::Host, 0, flags, 0, time_ns}, address, size};
    samples.onEvent(abi::AnyEvent::from(event).slots[0]);
  }
  void free(uint64_t address, uint64_t time_ns) {
    const abi::FreeEvent event{{abi::EventKind::Free, abi::Heap::Host, 0, 0, 0, time_ns}, address, 0};
    samples.onEvent(abi::AnyEvent::from(event).slots[0]);
  }
  std::vector<Sampled> look(uint64_t now_ns, bool at_exit = false) {
    std::vector<abi::PagesEvent> found;
    samples.look(own, now_ns, at_exit, found);
    std::vector<Sampled> list;
    for (const abi::PagesEvent &event : found)
      list.push_back({event.address, event.size, event.allocated_ns, event.touched, event.at_exit});
    return list;
  }
  // Allocates a block of new memory that is in the sample, because another block has the bytes before the first
  // candidate.
  uint64_t sampled(uint64_t time_ns = 10) {
    const auto address = reinterpret_cast<uint64_t>(map) + 16;
    alloc(uint64_t{1} << 50, kBlock, 1);
    free(uint64_t{1} << 50, 2);
    alloc(address, kBlock, time_ns);
    return address;
  }
  bool isTold(uint64_t address) const { return told.samples[abi::sampleIndexOf(address)].address == address; }
  bool isInFilter(uint64_t address) const {
    const uint32_t bit = abi::largeBitOf(address);
    return (told.filter[bit / 64] >> bit % 64 & 1) != 0;
  }

  abi::LargeBlocks told{};
  ProcessMemory own{static_cast<uint32_t>(getpid())};
  SampledBlocks samples{kEnd, ToldBlocks(&told)};
  void *map = nullptr;
  uint64_t map_bytes = 0;
};

TEST_F(SampledBlocksTest, SayWhatIsNotTheLongestRangeOfZeros) {
  const uint64_t address = sampled();
  EXPECT_FALSE(isTold(address)) << "a block that is freed at once costs nothing";
  EXPECT_EQ(look(20), std::vector<Sampled>{});
  EXPECT_TRUE(isTold(address) && isInFilter(address));
  std::memset(reinterpret_cast<char *>(address), 1, 100);
  EXPECT_EQ(look(25), std::vector<Sampled>{}) << "it is not due: it has not lived twice as long";
  EXPECT_EQ(look(30), (std::vector<Sampled>{{address, kBlock, 10, 104, abi::kPagesOfSample}}));
  EXPECT_EQ(look(60), std::vector<Sampled>{}) << "nothing has changed";
  reinterpret_cast<char *>(address)[kBlock - 1] = 1;
  EXPECT_EQ(look(61, true), (std::vector<Sampled>{{address, kBlock, 10, 112, abi::kPagesOfSample | abi::kPagesLast}}));
}

// The program may need zeros that it has written. The block shares its first and last page with other blocks.
TEST_F(SampledBlocksTest, NeedThePagesThatTheProgramHasCleared) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (4 * page > kBlock || !own.tellsTouched())
    GTEST_SKIP() << "this kernel has large pages, or does not show them";
  const uint64_t address = sampled();
  const auto clear = [&](uint64_t first, uint64_t end) {
    std::memset(static_cast<char *>(map) + first * page, 0, (end - first) * page);
  };
  clear(0, 1);
  EXPECT_EQ(look(20), (std::vector<Sampled>{})) << "another block may have touched this page";
  clear(1, kBlock / page);
  EXPECT_EQ(look(40), (std::vector<Sampled>{{address, kBlock, 10, kBlock - (page - 16), abi::kPagesOfSample}}));
}

// The program clears a block before it frees the block.
TEST_F(SampledBlocksTest, RememberWhatWasThere) {
  const uint64_t address = sampled();
  std::memset(reinterpret_cast<char *>(address), 1, kBlock);
  EXPECT_EQ(look(20), (std::vector<Sampled>{{address, kBlock, 10, kBlock, abi::kPagesOfSample}}));
  std::memset(reinterpret_cast<char *>(address), 0, kBlock);
  EXPECT_EQ(look(50, true),
            (std::vector<Sampled>{{address, kBlock, 10, kBlock, abi::kPagesOfSample | abi::kPagesLast}}));
}

TEST_F(SampledBlocksTest, LeaveOutSmallLargeAndClearedBlocks) {
  for (uint64_t i = 1; i < 1000; ++i) {
    alloc(i << 32, abi::kLeastSampledBytes - 1, 10);
    alloc(i << 33 | 1 << 20, kEnd, 10);
    alloc(i << 34 | 2 << 20, kBlock, 10, abi::kZeroed);
  }
  EXPECT_FALSE(samples.hasBlocks());
}

// A damaged event must not make the collector ask for much memory, or for memory behind the address space.
TEST_F(SampledBlocksTest, LeaveOutWhatNoProcessHas) {
  SampledBlocks all(UINT64_MAX, ToldBlocks(&told));
  const auto take = [&](uint64_t address, uint64_t size) {
    const abi::AllocEvent event{{abi::EventKind::Alloc, abi::Heap::Host, 0, 0, 0, 10}, address, size};
    all.onEvent(abi::AnyEvent::from(event).slots[0]);
  };
  for (int i = 0; i < 1000; ++i) {
    take(0, kBlock);
    take(UINT64_MAX - 100, kBlock);
    take(1 << 20, uint64_t{1} << 50);
  }
  EXPECT_FALSE(all.hasBlocks());
  const abi::FreeEvent nothing{{abi::EventKind::Free, abi::Heap::Host, 0, 0, 0, 20}, 0, 0};
  take(1 << 20, kBlock);
  take(1 << 21, kBlock); // now there is a candidate
  EXPECT_TRUE(all.hasBlocks());
  all.onEvent(abi::AnyEvent::from(nothing).slots[0]);
  for (const uint64_t address : {1 << 20, 1 << 21}) {
    const abi::FreeEvent event{{abi::EventKind::Free, abi::Heap::Host, 0, 0, 0, 20}, address, 0};
    all.onEvent(abi::AnyEvent::from(event).slots[0]);
  }
  EXPECT_FALSE(all.hasBlocks());
}

// The program allocates at three places in turn. A fixed distance between candidates would choose the same place again
// and again.
TEST_F(SampledBlocksTest, AreOfAllPlaces) {
  std::array<int, 3> of_place{};
  for (uint64_t i = 1; i <= 4000; ++i)
    alloc(i << 20 | (i % 3) << 12, 4096, i);
  look(5000);
  for (const abi::LargeBlock &block : told.samples)
    if (block.address != 0)
      ++of_place[block.address >> 12 & 3];
  for (const int count : of_place)
    EXPECT_GE(count, 8);
}

TEST_F(SampledBlocksTest, ForgetWhatIsFreed) {
  const uint64_t address = sampled();
  look(20);
  free(address, 30);
  EXPECT_FALSE(samples.hasBlocks());
  EXPECT_FALSE(isTold(address) || isInFilter(address));
  EXPECT_EQ(look(40, true), std::vector<Sampled>{});
}

TEST_F(SampledBlocksTest, ThatCannotBeReadSayNothing) {
  for (uint64_t i = 1; i <= 4; ++i)
    alloc(i << 50, kBlock, 10);
  EXPECT_TRUE(samples.hasBlocks());
  EXPECT_EQ(look(20, true), std::vector<Sampled>{});
}

// A thousand blocks compete for the entries. Later ones get their share of them, and so do earlier ones.
TEST_F(SampledBlocksTest, AreOfAllAges) {
  const auto toldOf = [&](uint64_t first, uint64_t end) {
    return std::count_if(std::begin(told.samples), std::end(told.samples), [&](const abi::LargeBlock &block) {
      return block.address >> 20 >= first && block.address >> 20 < end;
    });
  };
  for (uint64_t i = 1; i <= 1000; ++i) {
    alloc(i << 20, kBlock + 1, i);
    look(1000 + i);
  }
  EXPECT_EQ(toldOf(1, 1001), static_cast<long>(abi::kSampledBlocks));
  EXPECT_GE(toldOf(1, 501), 20);
  EXPECT_GE(toldOf(501, 1001), 20);
}

TEST(ZeroRange, CountsTheBytesOfACutWord) {
  const uint64_t words[] = {1, 0, 0, 2, 0, 0, 0};
  abi::ZeroRange zeros;
  zeros.add(words, 6 * 8 + 5);
  EXPECT_EQ(zeros.longest_bytes, 2 * 8 + 5);
  abi::ZeroRange none;
  none.add(words, 0);
  EXPECT_EQ(none.longest_bytes, 0u);
}

} // namespace
} // namespace msleaks::analysis
