// Tests properties of blocks: their numbers, cohorts and devices, and the block that contains a pool's block.
#include "live_set_fixture.h"

#include "analysis/live/address_index.h"

#include <map>
#include <random>

namespace msleaks::analysis {

using test::alloc;

namespace {

constexpr test::Where on(uint8_t device, abi::Heap heap = abi::Heap::Device) {
  return {.heap = heap, .device = device};
}

} // namespace

TEST_F(LiveSetTest, NumbersOfDeadBlocksAreGivenAgain) {
  apply(alloc(1, 0x10, 1));
  apply(alloc(2, 0x20, 1));
  const BlockId first = live.find(1, AddressSpace::Host, 0x10)->id, second = live.find(1, AddressSpace::Host, 0x20)->id;
  EXPECT_NE(first, second);
  EXPECT_NE(first, BlockId{});
  for (uint64_t time = 3; time < 1000; time += 2) {
    apply(test::free(time, 0x10));
    apply(alloc(time + 1, 0x10, 1));
  }
  EXPECT_EQ(live.find(1, AddressSpace::Host, 0x10)->id, first);
  EXPECT_EQ(live.find(1, AddressSpace::Host, 0x20)->id, second);
}

TEST_F(LiveSetTest, MappingsHaveNumbersWhateverIsCutOutOfThem) {
  apply(alloc(1, 0x10000, 8 * kPage, kMap));
  apply(test::free(2, 0x12000, kMap, kPage));
  apply(test::protect(3, 0x14000, kPage, abi::kReserve));
  std::map<BlockId, uint64_t> numbers;
  for (const uint64_t address : {0x10000, 0x13000, 0x14000, 0x15000}) {
    const Block *block = live.find(1, AddressSpace::Mapping, address);
    ASSERT_NE(block, nullptr) << std::hex << address;
    EXPECT_NE(block->id, BlockId{});
    EXPECT_TRUE(numbers.emplace(block->id, address).second) << std::hex << address;
  }
  EXPECT_EQ(live.liveBlocks(), 4u);
}

TEST_F(LiveSetTest, ACohortIsSiteThreadHeapAndDevice) {
  apply(alloc(1, 0x10, 1, {.site = 5}));
  apply(alloc(2, 0x20, 2, {.site = 5}));
  apply(alloc(3, 0x30, 1, {.stream = 1, .site = 5}));
  apply(alloc(4, 0x40, 1, {.process = 2, .site = 5}));
  const auto cohort = [&](uint64_t address, uint32_t process = 1) {
    return live.find(process, AddressSpace::Host, address)->cohort;
  };
  EXPECT_EQ(cohort(0x10), cohort(0x20));
  EXPECT_NE(cohort(0x10), cohort(0x30));
  EXPECT_NE(cohort(0x10), cohort(0x40, 2));
  EXPECT_EQ(live.cohorts()[cohort(0x30)], (Cohort{SiteId{5}, 1, 1, abi::Heap::Host, 0, {}, {}}));
  apply(test::retarget(5, 0x20, {.site = 9}));
  EXPECT_EQ(live.cohorts()[cohort(0x20)].site, SiteId{9});
}

TEST_F(LiveSetTest, DevicesHaveAddressesOfTheirOwn) {
  apply(alloc(1, 0x1000, 1, on(0)));
  apply(alloc(2, 0x1000, 2, on(1)));
  apply(alloc(3, 0x1000, 3, on(2)));
  EXPECT_EQ(live.liveBlocks(), 3u);
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  journal.take();
  apply(test::free(4, 0x1000, on(1)));
  EXPECT_EQ(journal.take(), "-1000:2@0 free\n");
  // The current device of a thread that frees a block may differ from the block's device.
  apply(alloc(5, 0x2000, 4, on(2)));
  apply(test::free(6, 0x2000, on(0)));
  apply(test::free(7, 0x1000, on(3)));
  EXPECT_EQ(journal.take(), "+2000:4@0 alloc\n-2000:4@0 free\n-1000:1@0 free\n");
  live.endProcess(1, FreeCause::ProcessExited, 9);
  EXPECT_EQ(journal.take(), "-1000:3@0 exit\n");
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveSetTest, AnInteriorPointerFindsItsBlock) {
  apply(alloc(1, 0x1000, 0x100));
  apply(alloc(2, 0x10000, 4 * kPage, kMap));
  const auto holding = [&](AddressSpace space, uint64_t address) {
    const Block *block = live.holding(1, space, address);
    return block ? block->address : 0;
  };
  EXPECT_EQ(holding(AddressSpace::Host, 0x1000), 0x1000u);
  EXPECT_EQ(holding(AddressSpace::Host, 0x10ff), 0x1000u);
  EXPECT_EQ(holding(AddressSpace::Host, 0x1100), 0u);
  EXPECT_EQ(holding(AddressSpace::Host, 0xfff), 0u);
  EXPECT_EQ(holding(AddressSpace::Mapping, 0x13fff), 0x10000u);
  EXPECT_EQ(holding(AddressSpace::Mapping, 0x14000), 0u);
  apply(alloc(3, 0x1100, 8)); // allocated after the first look-up
  EXPECT_EQ(holding(AddressSpace::Host, 0x1107), 0x1100u);
  apply(test::free(4, 0x1000));
  EXPECT_EQ(holding(AddressSpace::Host, 0x10ff), 0u);
  EXPECT_EQ(live.holding(7, AddressSpace::Host, 0x1000), nullptr);
}

TEST_F(LiveSetTest, APoolsBlockIsAPartOfAnother) {
  apply(alloc(1, 0x1000, 0x1000, on(1)));
  apply(alloc(2, 0x8000, 0x1000));
  const BlockId segment = live.holding(1, AddressSpace::Accelerator, 0x1000, 1)->id;
  const BlockId arena = live.find(1, AddressSpace::Host, 0x8000)->id;
  apply(alloc(3, 0x1200, 0x10, on(1, abi::Heap::Pool)));
  apply(alloc(4, 0x8200, 0x10, on(0, abi::Heap::Pool)));
  apply(alloc(5, 0xf000, 0x10, on(0, abi::Heap::Pool)));
  const auto parent = [&](uint64_t address) { return live.parentOf(live.find(1, AddressSpace::Pool, address)->id); };
  EXPECT_EQ(parent(0x1200), segment);
  EXPECT_EQ(parent(0x8200), arena);
  EXPECT_EQ(parent(0xf000), BlockId{});
}

TEST(AddressIndex, FindsTheLastAddressBefore) {
  std::mt19937_64 random(1);
  AddressIndex index;
  std::map<uint64_t, int> model;
  const uint64_t kRanges[] = {0, 0x5555'0000'0000, 0x7fff'ffff'0000, UINT64_MAX - 0xffff};
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t address = kRanges[random() % 4] + (random() & (random() % 3 == 0 ? 0xffff : 0x3ff));
    switch (random() % 3) {
    case 0:
      index.insert(address);
      model[address] = 0;
      break;
    case 1:
      index.erase(address);
      model.erase(address);
      break;
    default:
      const auto above = model.upper_bound(address);
      const auto expected = above == model.begin() ? std::nullopt : std::optional(std::prev(above)->first);
      ASSERT_EQ(index.lastUntil(address), expected) << std::hex << address;
    }
  }
}

} // namespace msleaks::analysis
