// Tests which blocks launches, copies and fills use, and for which processes msleaks knows all uses.
#include "live_set_fixture.h"

namespace msleaks::analysis {
namespace {

using abi::Heap;
using test::access, test::alloc, test::copy, test::fill, test::launch;

constexpr test::Where kUsedOnDevice{.heap = Heap::Device};

class LiveUsesTest : public LiveSetTest {
protected:
  void SetUp() override {
    apply(alloc(1, 0x1000, 0x100, kUsedOnDevice));
    apply(alloc(2, 0x2000, 0x100, kUsedOnDevice));
    apply(alloc(3, 0x1000, 0x100)); // a host block at the same address
    journal.take();
  }
};

} // namespace

TEST_F(LiveUsesTest, AnArgumentIsAHandleOrTheAddressOfAByte) {
  apply(access(5, 0x1000));
  apply(access(6, 0x20ff));
  apply(access(7, 0x2100)); // this number is not an address in a block
  EXPECT_EQ(journal.take(), "*1000:256@0 used\n*2000:256@0 used\n");
}

TEST_F(LiveUsesTest, CopiesReadAndWriteAndFillsWrite) {
  apply(copy(5, 0x1000, 0x2000));
  apply(copy(6, 0x7f00'0000, 0x1000)); // copies to the host
  apply(fill(7, 0x2010));
  EXPECT_EQ(journal.take(), "*2000:256@0 read\n*1000:256@0 written\n*1000:256@0 read\n*2000:256@0 written\n");
}

TEST_F(LiveUsesTest, ACopyOfTheProgramsOwnMemoryUsesNoDevice) {
  apply(copy(5, 0x1000, 0x2000, {.heap = Heap::Host}));
  EXPECT_EQ(journal.take(), "");
}

// A cl_mem is the address of the driver's own data about the buffer. Other host blocks may follow this data. So an
// address after the handle does not belong to the buffer.
TEST_F(LiveUsesTest, WhatLiesBehindAHandleIsNoPartOfItsBlock) {
  constexpr uint64_t kHandle = 0x500000, kBytes = 1 << 20;
  apply(alloc(4, kHandle, kBytes, {.heap = Heap::Device, .flags = abi::kDriver}));
  journal.take();
  apply(copy(5, kHandle + 100, 0x1000));
  apply(access(6, kHandle + 8));
  apply(fill(7, kHandle + 16));
  EXPECT_EQ(journal.take(), "*1000:256@0 read\n");
  apply(copy(8, kHandle, 0x1000));
  EXPECT_EQ(journal.take(), "*1000:256@0 read\n*500000:1048576@0 written\n");
}

TEST_F(LiveUsesTest, AHandleDoesNotHideTheBlockInWhichItsNumberLies) {
  constexpr test::Where kHandle{.heap = Heap::Device, .flags = abi::kDriver};
  apply(access(4, 0x2010)); // from here on, interior addresses are looked up
  apply(alloc(5, 0x2010, 0x20, kHandle));
  journal.take();
  apply(access(6, 0x2018));
  EXPECT_EQ(journal.take(), "*2000:256@0 used\n");
  apply(alloc(7, 0x1000, 0x100, kHandle));      // the address becomes a handle
  apply(alloc(8, 0x2010, 0x20, kUsedOnDevice)); // the handle becomes an address
  journal.take();
  apply(access(9, 0x1008));
  apply(access(10, 0x2018));
  EXPECT_EQ(journal.take(), "*2010:32@0 used\n");
}

TEST_F(LiveUsesTest, FlagsOfAnAccessSayWhich) {
  apply(access(5, 0x1000, {.heap = Heap::Device, .flags = abi::kRead}));
  apply(access(6, 0x1000, {.heap = Heap::Device, .flags = abi::kRead | abi::kWrite}));
  EXPECT_EQ(journal.take(), "*1000:256@0 read\n*1000:256@0 both\n");
}

TEST_F(LiveUsesTest, OfOtherHeapsNobodySeesTheUses) {
  apply(alloc(4, 0x9000, 0x100, {.heap = Heap::Managed}));
  journal.take();
  apply(access(5, 0x9000));
  EXPECT_EQ(journal.take(), "");
}

TEST_F(LiveUsesTest, AProcessIsSeenWhenAllItsLaunchesNameTheirMemory) {
  EXPECT_FALSE(live.useSources().seesAll(1)) << "it launches nothing, as far as anybody sees";
  apply(launch(5, abi::kListed));
  EXPECT_TRUE(live.useSources().seesAll(1));
  EXPECT_FALSE(live.useSources().seesAll(2));
  apply(launch(6, 0, {.process = 2, .heap = Heap::Device}));
  apply(launch(7, abi::kListed, {.process = 2, .heap = Heap::Device}));
  EXPECT_FALSE(live.useSources().seesAll(2));
  apply(access(8, 0)); // an unknown argument
  EXPECT_FALSE(live.useSources().seesAll(1));
}

// A program can use OpenCL blocks only by calls of OpenCL, and the hooks see all of these calls. So all uses are known,
// even in a process that launches no kernel.
TEST_F(LiveUsesTest, AProcessThatLaunchesNothingIsSeenWhereAllCallsAre) {
  constexpr test::Where kOfOpenCl{.process = 3, .heap = Heap::Device, .flags = abi::kDriver | abi::kListed};
  apply(alloc(5, 0x5000, 0x100, kOfOpenCl));
  apply(fill(6, 0x5000, {.process = 3, .heap = Heap::Device}));
  EXPECT_TRUE(live.useSources().seesAll(3));
  apply(launch(7, 0, {.process = 3, .heap = Heap::Device}));
  EXPECT_FALSE(live.useSources().seesAll(3)) << "nobody knows what the launch was given";
  apply(access(8, 0, {.process = 3, .heap = Heap::Device, .flags = abi::kListed}));
  EXPECT_TRUE(live.useSources().seesAll(3));
  apply(access(9, 0, {.process = 3, .heap = Heap::Device}));
  EXPECT_FALSE(live.useSources().seesAll(3)) << "something was used, and nobody knows what";
}

TEST_F(LiveUsesTest, BlocksOfAnotherDriverMayBeUsedUnseen) {
  apply(alloc(5, 0x5000, 0x100, {.process = 3, .heap = Heap::Device, .flags = abi::kDriver | abi::kListed}));
  apply(alloc(6, 0x6000, 0x100, {.process = 3, .heap = Heap::Device}));
  EXPECT_FALSE(live.useSources().seesAll(3));
}

TEST_F(LiveUsesTest, ALaunchMayBeListedByWhatComesBehindIt) {
  constexpr test::Where kLast{.heap = Heap::Device, .flags = abi::kListed};
  apply(launch(5, 0));
  EXPECT_FALSE(live.useSources().seesAll(1));
  apply(access(6, 0x1000, {.heap = Heap::Device, .flags = abi::kListed | abi::kRead}));
  apply(access(7, 0, kLast));
  EXPECT_TRUE(live.useSources().seesAll(1));
  EXPECT_EQ(journal.take(), "*1000:256@0 read\n");
  apply(launch(8, 0));
  apply(launch(9, 0));
  apply(access(10, 0, kLast));
  EXPECT_FALSE(live.useSources().seesAll(1)) << "one of the two is not listed";
}

} // namespace msleaks::analysis
