// Tests which blocks are lost, and which are held (reachable by pointers). A list of pointers simulates
// the memory.
#include "analysis/live/reachability.h"

#include "live_set_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kGlobals = 0x1000, kStack = 0x2000, kHeap = 0x100000, kOther = 0x900000;

class ReachabilityTest : public LiveSetTest {
protected:
  ReachabilityTest() {
    map.process = 1;
    map.all_blocks = true;
    map.regions = {{kGlobals, kGlobals + 0x1000, RegionUse::Globals, 0, {"/bin/p", {}}, 0},
                   {kStack, kStack + 0x1000, RegionUse::Stack, 7, {}, 0},
                   {kHeap, kHeap + 0x10000, RegionUse::Heap, 0, {}, 0},
                   {kOther, kOther + 0x10000, RegionUse::Other, 0, {}, 0}};
  }
  // Adds a block. Its site has the low 20 bits of its address as number.
  void block(uint64_t address, uint64_t size, const test::Where &where = {}) {
    test::Where here = where;
    here.site = static_cast<uint32_t>(address & 0xfffff);
    apply(test::alloc(++time_ns, address, size, here));
    addresses[address] = where.heap;
  }
  void point(uint64_t at, uint64_t to) { pointers.push_back({at, to}); }

  Reachability follow() { return follow(live); }
  Reachability follow(const BlocksByProcess &blocks) {
    std::sort(pointers.begin(), pointers.end(), [](const Pointer &a, const Pointer &b) { return a.at < b.at; });
    PointerPacker packer;
    for (const Pointer &pointer : pointers)
      packer.add(pointer);
    const auto payload = packer.payload();
    map.pointers = packer.count();
    return Reachability(blocks, PointedMemory(map, {{payload.begin(), payload.end()}}));
  }
  const Block &at(uint64_t address) const { return *live.find(1, spaceOf(addresses.at(address)), address); }
  // Returns, for example, "100 held, 200 lost": the site and the state of each block.
  std::string told() {
    const Reachability reachability = follow();
    std::string text;
    for (const auto &[address, heap] : addresses)
      text += std::string(text.empty() ? "" : ", ") + std::to_string(at(address).site.index) + " " +
              nameOf(reachability.of(at(address)));
    return text;
  }

  PointerMap map;
  std::vector<Pointer> pointers;
  std::map<uint64_t, abi::Heap> addresses;
  uint64_t time_ns = 0;
};

// Returns the blocks of a live set by process, and records which processes were asked for.
class AskedProcesses final : public BlocksByProcess {
public:
  explicit AskedProcesses(const LiveSet &live) : live_(live) {}
  void forEachOf(uint32_t process, const std::function<void(const Block &)> &f) const override {
    asked.push_back(process);
    live_.forEachOf(process, f);
  }
  mutable std::vector<uint32_t> asked;

private:
  const LiveSet &live_;
};

// Many ranks may exit one after the other. The work at each exit must not depend on the blocks of the other ranks.
TEST_F(ReachabilityTest, TheBlocksOfOtherProcessesAreNotVisited) {
  block(kHeap + 1, 64);
  for (const uint32_t other : {2u, 3u})
    apply(test::alloc(++time_ns, kHeap + 1, 64, {.process = other}));
  point(kGlobals, kHeap + 1);
  const AskedProcesses blocks(live);
  EXPECT_EQ(follow(blocks).of(at(kHeap + 1)), Reach::Held);
  EXPECT_EQ(blocks.asked, std::vector<uint32_t>{1});
}

TEST_F(ReachabilityTest, GlobalsAndStacksHold) {
  block(kHeap + 1, 64), block(kHeap + 100, 64), block(kHeap + 200, 64);
  point(kGlobals + 8, kHeap + 1);
  point(kStack + 16, kHeap + 100);
  EXPECT_EQ(told(), "1 held, 100 held, 200 lost");
}

TEST_F(ReachabilityTest, APointerAnywhereIntoABlockCounts) {
  block(kHeap + 0, 8), block(kHeap + 100, 64), block(kHeap + 200, 64), block(kHeap + 300, 0), block(kHeap + 400, 0);
  point(kGlobals, kHeap + 8);        // an empty array: the pointer is after the count of its elements
  point(kGlobals + 8, kHeap + 163);  // points to the block's last byte
  point(kGlobals + 16, kHeap + 264); // points after the block's end
  point(kGlobals + 24, kHeap + 300); // an empty block has an address, too
  point(kGlobals + 32, kHeap + 401);
  EXPECT_EQ(told(), "0 held, 100 held, 200 lost, 300 held, 400 lost");
}

// malloc's lists point to the beginning of free chunks. These first bytes still belong to the block before the chunk.
// So a pointer in the lists must not hold that block.
TEST_F(ReachabilityTest, ListsOfFreeChunksHoldNothing) {
  block(kHeap + 0x10, 24), block(kHeap + 0x110, 136), block(kHeap + 0x210, 136), block(kHeap + 0x310, 24);
  map.regions[0].image.path = "/lib/x86_64-linux-gnu/libc.so.6";
  point(kGlobals, kHeap + 0x20);
  point(kGlobals + 8, kHeap + 0x190);
  point(kGlobals + 16, kHeap + 0x210 + 120); // points into the block, before its last bytes
  point(kStack, kHeap + 0x320);              // not in a list of malloc
  EXPECT_EQ(told(), "16 lost, 272 lost, 528 held, 784 held");
}

// libc's variables point to the buffer of stdout, so libc holds this buffer. A list of libc leads to another FILE and
// to its buffer. libc does not hold this second buffer.
TEST_F(ReachabilityTest, LibcHoldsWhatItsVariablesPointTo) {
  block(kHeap + 0x10, 1024), block(kHeap + 0x1000, 472), block(kHeap + 0x2000, 1024), block(kHeap + 0x3000, 64);
  map.regions[0].image.path = "/lib/x86_64-linux-gnu/libc.so.6";
  point(kGlobals, kHeap + 0x10);
  point(kGlobals + 8, kHeap + 0x1000);
  point(kHeap + 0x1000 + 56, kHeap + 0x2000);
  point(kStack, kHeap + 0x3000);
  const Reachability reachability = follow();
  EXPECT_TRUE(reachability.isHeldByLibc(at(kHeap + 0x10)));
  EXPECT_TRUE(reachability.isHeldByLibc(at(kHeap + 0x1000)));
  EXPECT_FALSE(reachability.isHeldByLibc(at(kHeap + 0x2000)));
  EXPECT_FALSE(reachability.isHeldByLibc(at(kHeap + 0x3000)));
}

TEST_F(ReachabilityTest, BlocksHoldBlocks) {
  block(kHeap + 0x10, 64), block(kHeap + 0x100, 64), block(kHeap + 0x200, 64);
  point(kGlobals, kHeap + 0x10);
  point(kHeap + 0x18, kHeap + 0x100);
  point(kHeap + 0x120, kHeap + 0x210);
  EXPECT_EQ(told(), "16 held, 256 held, 512 held");
  const Holders holders = follow().holdersOf(at(kHeap + 0x200));
  ASSERT_TRUE(holders.root);
  EXPECT_EQ(holders.root->region.image.path, "/bin/p");
  EXPECT_EQ(holders.root->address, kGlobals);
  ASSERT_EQ(holders.links.size(), 2u);
  EXPECT_EQ(holders.links[0].site.index, 0x10u);
  EXPECT_EQ(holders.links[0].offset, 8u);
  EXPECT_EQ(holders.links[1].site.index, 0x100u);
  EXPECT_EQ(holders.links[1].offset, 0x20u);
}

TEST_F(ReachabilityTest, WhatIsBelowALostBlockIsIndirect) {
  block(kHeap + 0x10, 64), block(kHeap + 0x100, 64), block(kHeap + 0x200, 64);
  point(kHeap + 0x18, kHeap + 0x100);
  point(kHeap + 0x100, kHeap + 0x108); // points to itself
  point(kHeap + 0x120, kHeap + 0x200);
  EXPECT_EQ(told(), "16 lost, 256 indirect, 512 indirect");
  const Holders holders = follow().holdersOf(at(kHeap + 0x200));
  EXPECT_FALSE(holders.root);
  ASSERT_EQ(holders.links.size(), 2u);
  EXPECT_EQ(holders.links[0].site.index, 0x10u);
}

TEST_F(ReachabilityTest, TheOldestOfACircleIsItsHead) {
  block(kHeap + 0x300, 64); // this block is older than the circle that points to it
  block(kHeap + 0x200, 64), block(kHeap + 0x100, 64);
  point(kHeap + 0x100, kHeap + 0x200);
  point(kHeap + 0x108, kHeap + 0x300);
  point(kHeap + 0x200, kHeap + 0x100);
  EXPECT_EQ(told(), "256 indirect, 512 lost, 768 indirect");
}

TEST_F(ReachabilityTest, FreeMemoryHoldsNothing) {
  block(kHeap + 0x10, 64);
  point(kHeap + 0x1000, kHeap + 0x10);
  EXPECT_EQ(told(), "16 lost");
}

TEST_F(ReachabilityTest, WhereBlocksMayBeUnknownTheHeapMayHold) {
  map.all_blocks = false;
  block(kHeap + 0x10, 64), block(kHeap + 0x100, 64);
  point(kHeap + 0x1000, kHeap + 0x10);
  EXPECT_EQ(told(), "16 unknown, 256 lost");
}

TEST_F(ReachabilityTest, MemoryOfUnknownUseHolds) {
  block(kHeap + 0x10, 64);
  point(kOther, kHeap + 0x10);
  EXPECT_EQ(told(), "16 held");
}

TEST_F(ReachabilityTest, ATaggedWordMayBeAPointer) {
  block(kHeap + 0x10, 64), block(kHeap + 0x100, 64), block(kHeap + 0x200, 64);
  point(kGlobals, kHeap + 0x10 + (uint64_t{0xab} << 56));
  point(kHeap + 0x18, kHeap + 0x100);
  EXPECT_EQ(told(), "16 unknown, 256 unknown, 512 lost");
}

TEST_F(ReachabilityTest, WhatWasNotReadIsUnknown) {
  map.why_not = "some reason";
  block(kHeap + 0x10, 64), block(kHeap + 0x100, 64);
  point(kGlobals, kHeap + 0x10);
  EXPECT_EQ(told(), "16 held, 256 unknown");
  EXPECT_EQ(follow().whyNot(), "some reason");
}

TEST_F(ReachabilityTest, WhoHoldsAPartHoldsTheMapping) {
  block(kOther, 0x1000, {.heap = abi::Heap::Mapping});
  block(kOther + 0x100, 64), block(kOther + 0x200, 64);
  point(kGlobals, kOther + 0x100);
  point(kOther + 0x800, kOther + 0x200); // points into the mapping, but into no block of it
  EXPECT_EQ(told(), std::to_string(kOther & 0xfffff) + " held, " + std::to_string((kOther & 0xfffff) + 0x100) +
                        " held, " + std::to_string((kOther & 0xfffff) + 0x200) + " held");
}

TEST_F(ReachabilityTest, ALaterBlockAtTheSameAddressIsAnother) {
  block(kHeap + 0x10, 64);
  point(kGlobals, kHeap + 0x10);
  const Reachability reachability = follow();
  apply(test::free(++time_ns, kHeap + 0x10));
  block(kHeap + 0x10, 64);
  EXPECT_EQ(reachability.of(at(kHeap + 0x10)), Reach::Unknown);
}

TEST_F(ReachabilityTest, ALongWayIsShortened) {
  constexpr uint64_t kNodes = 1000;
  for (uint64_t i = 0; i < kNodes; ++i) {
    apply(test::alloc(++time_ns, kHeap + i * 0x20, 0x18, {.site = i % 2 == 0 ? 1u : 2u}));
    point(kHeap + i * 0x20 + 8, kHeap + (i + 1) * 0x20);
  }
  point(kGlobals, kHeap);
  const Holders holders = follow().holdersOf(*live.find(1, AddressSpace::Host, kHeap + (kNodes - 1) * 0x20));
  EXPECT_EQ(holders.links.size(), 8u);
  EXPECT_EQ(holders.left_out, kNodes - 1 - 8);
}

TEST_F(ReachabilityTest, EqualLinksAreCounted) {
  constexpr uint64_t kNodes = 1000;
  for (uint64_t i = 0; i < kNodes; ++i) {
    apply(test::alloc(++time_ns, kHeap + i * 0x20, 0x18, {.site = 1}));
    point(kHeap + i * 0x20 + 8, kHeap + (i + 1) * 0x20);
  }
  point(kGlobals, kHeap);
  const Holders holders = follow().holdersOf(*live.find(1, AddressSpace::Host, kHeap + (kNodes - 1) * 0x20));
  ASSERT_EQ(holders.links.size(), 1u);
  EXPECT_EQ(holders.links[0].count, kNodes - 1);
}

} // namespace
} // namespace msleaks::analysis
