// Tests physical device memory. It is live until its handle is released and no address is mapped to it. A use of a
// mapped address is a use of the memory.
#include "live_set_fixture.h"

#include "analysis/live/device_ranges.h"

namespace msleaks::analysis {
namespace {

using abi::Heap;
using test::access, test::alloc, test::copy, test::fill, test::free, test::mapped, test::retain;

constexpr test::Where kOnDevice{.heap = Heap::Device}, kRefused{.heap = Heap::Device, .flags = abi::kRestored};
constexpr uint64_t kHandle = 0x5000, kOtherHandle = 0x6000, kPart = 0x8000'0000, kShownAt = 0x7000'0000,
                   kRangeBytes = 0x20'0000;

class LiveRangesTest : public LiveSetTest {
protected:
  void SetUp() override {
    apply(alloc(1, kHandle, kRangeBytes, kOnDevice));
    apply(alloc(2, kOtherHandle, kRangeBytes, kOnDevice));
    apply(mapped(3, kShownAt, kRangeBytes, kHandle));
    journal.take();
  }
};

} // namespace

TEST_F(LiveRangesTest, AMappedAddressIsTheBlock) {
  apply(fill(5, kShownAt + kRangeBytes - 1));
  apply(copy(6, 0x7f00'0000'0000, kShownAt));
  apply(access(7, kShownAt + 16));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n*5000:2097152@0 read\n*5000:2097152@0 used\n");
  apply(fill(8, kShownAt + kRangeBytes));
  apply(fill(9, kShownAt - 1));
  EXPECT_EQ(journal.take(), "");
}

TEST_F(LiveRangesTest, ACopyMayReachOverSeveral) {
  apply(mapped(4, kShownAt + kRangeBytes, kRangeBytes, kOtherHandle));
  apply(fill(5, kShownAt + kRangeBytes - 8, kOnDevice, 16));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n*6000:2097152@0 written\n");
}

// PyTorch's expandable segments first unmap the addresses, and then release the handle.
TEST_F(LiveRangesTest, UnmappedThenReleased) {
  apply(mapped(5, kShownAt, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "");
  apply(fill(6, kShownAt));
  EXPECT_EQ(journal.take(), "") << "it shows nothing any more";
  apply(free(7, kHandle, kOnDevice));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
}

// A program may release the handle while the memory is mapped. The block lives until the addresses are unmapped.
TEST_F(LiveRangesTest, ReleasedBehindTheMapping) {
  apply(free(5, kHandle, kOnDevice));
  EXPECT_EQ(journal.take(), "");
  apply(fill(6, kShownAt));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n");
  apply(mapped(7, kShownAt, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

TEST_F(LiveRangesTest, ASecondReleaseIsRefused) {
  apply(free(5, kHandle, kOnDevice));
  apply(free(6, kHandle, kOnDevice));
  apply(alloc(6, kHandle, 0, kRefused));
  EXPECT_EQ(journal.take(), "");
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
  apply(mapped(7, kShownAt, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
}

TEST_F(LiveRangesTest, AnUnmappingEndsAllInIt) {
  apply(mapped(4, kShownAt + kRangeBytes, kRangeBytes, kOtherHandle));
  apply(free(5, kHandle, kOnDevice));
  apply(free(6, kOtherHandle, kOnDevice));
  apply(mapped(7, kShownAt, 2 * kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n-6000:2097152@0 free\n");
  EXPECT_EQ(live.liveBlocks(), 0u);
}

TEST_F(LiveRangesTest, ABlockShownTwiceNeedsBothToGo) {
  apply(mapped(4, kShownAt + 16 * kRangeBytes, kRangeBytes, kHandle));
  apply(free(5, kHandle, kOnDevice));
  apply(mapped(6, kShownAt, kRangeBytes, 0));
  apply(fill(7, kShownAt + 16 * kRangeBytes));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n");
  apply(mapped(8, kShownAt + 16 * kRangeBytes, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
}

TEST_F(LiveRangesTest, ARefusedUnmappingChangesNothing) {
  apply(free(4, kHandle, kOnDevice));
  apply(mapped(5, kShownAt, kRangeBytes, 0));
  apply(mapped(6, kShownAt, kRangeBytes, 0, kRefused));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n+5000:2097152@0 restored\n");
  apply(fill(7, kShownAt));
  apply(mapped(8, kShownAt, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n-5000:2097152@0 free\n");
}

TEST_F(LiveRangesTest, ARefusedUnmappingOfOneOfTwoOwnersChangesNothing) {
  apply(mapped(5, kShownAt, kRangeBytes, 0));
  apply(mapped(6, kShownAt, kRangeBytes, 0, kRefused));
  apply(free(7, kHandle, kOnDevice));
  EXPECT_EQ(journal.take(), "");
  apply(mapped(8, kShownAt, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
}

// The driver may reuse the number of a released handle while the memory of the first handle is still mapped. The second
// handle must count as another block.
TEST_F(LiveRangesTest, AHandleThatIsGivenAgainIsAnotherBlock) {
  apply(free(5, kHandle, kOnDevice));
  apply(alloc(6, kHandle, 64, kOnDevice));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 rest\n+70000000:2097152@0 rest\n+5000:64@0 alloc\n");
  EXPECT_EQ(live.counts().implicit_frees, 0u);
  apply(fill(7, kShownAt + 8));
  apply(mapped(8, kShownAt, kRangeBytes, 0));
  apply(free(9, kHandle, kOnDevice));
  EXPECT_EQ(journal.take(), "*70000000:2097152@0 written\n-70000000:2097152@0 free\n-5000:64@0 free\n");
}

TEST_F(LiveRangesTest, ABlockWhoseFreeWasNotSeenIsShownNoLonger) {
  apply(alloc(6, kHandle, 64, kOnDevice));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 replaced\n+5000:64@0 alloc\n");
  apply(fill(7, kShownAt));
  EXPECT_EQ(journal.take(), "");
}

TEST_F(LiveRangesTest, APartOfAPoolIsInTheBlockThatItsAddressShows) {
  apply(alloc(5, kShownAt + 512, 64, {.heap = Heap::Pool}));
  const Block *part = live.find(1, AddressSpace::Pool, kShownAt + 512);
  ASSERT_NE(part, nullptr);
  const Block *whole = live.wholeOf(*part);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->address, kHandle);
}

// kPart is the handle of a part of an OpenCL buffer. A use of the part is a use of the whole buffer.
TEST_F(LiveRangesTest, AHandleThatShowsABlockIsTheBlock) {
  apply(mapped(4, kPart, kHandleBytes, kOtherHandle));
  apply(access(5, kPart));
  apply(fill(6, kPart, kOnDevice, 512));
  EXPECT_EQ(journal.take(), "*6000:2097152@0 used\n*6000:2097152@0 written\n");
  apply(fill(7, kPart + 1));
  EXPECT_EQ(journal.take(), "");
}

TEST_F(LiveRangesTest, ABlockLivesUntilTheLastOwnerOfItsPartIsGone) {
  apply(mapped(4, kPart, kHandleBytes, kOtherHandle));
  apply(retain(5, kPart, kOnDevice));
  apply(free(6, kOtherHandle, kOnDevice));
  apply(free(7, kPart, kOnDevice));
  EXPECT_EQ(journal.take(), "");
  apply(free(8, kPart, kOnDevice));
  EXPECT_EQ(journal.take(), "-6000:2097152@0 free\n");
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
  EXPECT_EQ(live.counts().unmatched_retargets, 0u);
  apply(fill(9, kPart));
  EXPECT_EQ(journal.take(), "");
}

TEST_F(LiveRangesTest, AnImageOfAPartShowsThePartsBlock) {
  apply(mapped(4, kPart, kHandleBytes, kOtherHandle));
  apply(mapped(5, kPart + 64, kHandleBytes, kPart));
  apply(free(6, kPart, kOnDevice));
  apply(fill(7, kPart + 64));
  EXPECT_EQ(journal.take(), "*6000:2097152@0 written\n");
  apply(free(8, kOtherHandle, kOnDevice));
  apply(free(9, kPart + 64, kOnDevice));
  EXPECT_EQ(journal.take(), "-6000:2097152@0 free\n");
}

TEST_F(LiveRangesTest, MemoryOfAnotherProcessIsNone) {
  apply(mapped(5, 0x1000, kRangeBytes, 0x9999));
  apply(fill(6, 0x1000));
  apply(mapped(7, 0x1000, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "");
}

// Before a mapping, nobody knows the size of another process' memory.
TEST_F(LiveSetTest, ImportedMemoryIsAsLargeAsItsMapping) {
  constexpr test::Where kHandleOfAnother{.heap = Heap::Imported, .flags = abi::kDriver};
  apply(alloc(1, kHandle, 0, kHandleOfAnother));
  apply(mapped(2, kShownAt, kRangeBytes, kHandle));
  EXPECT_EQ(journal.take(), "+5000:0@0 alloc\n-5000:0@0 rest\n+5000:2097152@0 rest\n");
  apply(mapped(3, kShownAt + kRangeBytes, kRangeBytes, kHandle));
  EXPECT_EQ(journal.take(), "") << "it shows the same bytes";
  apply(fill(4, kShownAt + 4));
  apply(free(5, kHandle, kOnDevice));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n") << "still mapped";
  apply(mapped(6, kShownAt, 2 * kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
}

// A driver returns memory that is open already once more, and counts.
TEST_F(LiveSetTest, ImportedMemoryIsOpenUntilTheLastClose) {
  constexpr test::Where kImported{.heap = Heap::Imported};
  apply(alloc(1, 0x1000, 64, kImported));
  apply(alloc(2, 0x1000, 64, kImported));
  apply(free(3, 0x1000, kImported));
  EXPECT_EQ(journal.take(), "+1000:64@0 alloc\n");
  apply(fill(4, 0x1010));
  apply(free(5, 0x1000, kImported));
  EXPECT_EQ(journal.take(), "*1000:64@0 written\n-1000:64@0 free\n");
  EXPECT_EQ(live.counts().implicit_frees + live.counts().unmatched_frees, 0u);
}

// Physical memory of the program that comes back as a handle stays the same block.
TEST_F(LiveRangesTest, TheProgramsOwnMemoryIsNotImported) {
  apply(alloc(4, kHandle, 0, {.heap = Heap::Imported, .flags = abi::kDriver}));
  apply(free(5, kHandle, kOnDevice));
  apply(mapped(6, kShownAt, kRangeBytes, 0));
  EXPECT_EQ(journal.take(), "");
  apply(free(7, kHandle, kOnDevice));
  EXPECT_EQ(journal.take(), "-5000:2097152@0 free\n");
}

// A Free of the address 0 ends all blocks of a device. Locked memory names no device.
TEST_F(LiveSetTest, AResetEndsTheBlocksOfOneDevice) {
  constexpr test::Where kSecond{.heap = Heap::Device, .device = 1}, kPinned{.heap = Heap::Pinned};
  apply(alloc(1, 0x1000, 64, kOnDevice));
  apply(alloc(2, 0x2000, 64, {.heap = Heap::Managed}));
  apply(alloc(3, 0x3000, 64, {.heap = Heap::Device, .flags = abi::kDriver})); // a handle of OpenCL
  apply(alloc(4, 0x4000, 64, kSecond));
  apply(alloc(5, 0x5000, 64, kPinned));
  journal.take();
  apply(free(6, 0, kSecond));
  EXPECT_EQ(journal.take(), "-4000:64@0 free\n");
  apply(alloc(7, 0x4000, 32, kSecond));
  journal.take();
  apply(free(8, 0, kOnDevice));
  EXPECT_EQ(live.liveBlocks(), 3u) << "the second device's block may be the reason for the locked one";
  journal.take();
  apply(free(9, 0x1000, kOnDevice));
  EXPECT_EQ(live.counts().unmatched_frees, 0u) << "the driver refuses this free";
  apply(free(10, 0x1000, kOnDevice));
  EXPECT_EQ(live.counts().unmatched_frees, 1u);
  apply(free(11, 0, kSecond));
  EXPECT_EQ(journal.take(), "-4000:32@0 free\n") << "the handle is on the first device";
  apply(free(12, 0x3000, kOnDevice));
  journal.take();
  apply(free(13, 0, kOnDevice));
  EXPECT_EQ(journal.take(), "-5000:64@0 free\n");
}

auto getsMemory(uint64_t time_ns, uint64_t address, uint64_t size) {
  return test::make<abi::ProtectEvent>(time_ns, kOnDevice, address, size);
}

// A graph reserves the address of a block. It has memory from a launch until it is freed.
TEST_F(LiveSetTest, AGraphsBlockHasMemoryAfterALaunch) {
  constexpr test::Where kInGraph{.heap = Heap::Device, .flags = abi::kReserve | abi::kFile},
      kGone{.heap = Heap::Device, .flags = abi::kReserve};
  apply(alloc(1, 0x1000, 64, kInGraph));
  apply(free(2, 0x1000, kOnDevice)); // captured, so it frees nothing yet
  EXPECT_EQ(journal.bytes, 0u);
  for (const uint64_t launched : {3, 5}) {
    apply(getsMemory(launched, 0x1000, 64));
    EXPECT_EQ(journal.bytes, 64u);
    apply(free(launched + 1, 0x1000, kOnDevice));
    EXPECT_EQ(journal.bytes, 0u);
  }
  apply(free(7, 0x1000, kGone));
  EXPECT_EQ(live.liveBlocks(), 0u);
  EXPECT_EQ(live.counts().unmatched_frees, 0u);
}

// The memory outlives its graph.
TEST_F(LiveSetTest, AGraphsBlockIsFreedAfterItsGraph) {
  apply(alloc(1, 0x1000, 64, {.heap = Heap::Device, .flags = abi::kReserve | abi::kFile}));
  apply(getsMemory(2, 0x1000, 64));
  apply(free(3, 0x1000, {.heap = Heap::Device, .flags = abi::kReserve}));
  EXPECT_EQ(journal.bytes, 64u);
  apply(free(4, 0x1000, kOnDevice));
  EXPECT_EQ(live.liveBlocks(), 0u);
}

// A multicast object shows a block of each device at the same addresses.
TEST_F(LiveRangesTest, AMulticastAddressIsEachBoundBlock) {
  constexpr test::Where kBind{.heap = Heap::Device, .flags = abi::kDriver},
      kUnbind{.heap = Heap::Device, .flags = abi::kDriver, .device = 1};
  constexpr uint64_t kObject = 0x77, kAt = 0x6000'0000, kOfSecond = 0x5010;
  apply(alloc(4, kOfSecond, kRangeBytes, {.heap = Heap::Device, .device = 1}));
  apply(mapped(5, kObject, kRangeBytes, kHandle, kBind));
  apply(mapped(6, kObject, kRangeBytes, kOfSecond, kBind));
  apply(mapped(7, kObject, kRangeBytes, kShownAt + 16, kBind, kRangeBytes)); // by an address
  apply(mapped(8, kAt, 2 * kRangeBytes, kObject));
  journal.take();
  apply(fill(9, kAt + 16));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n*5010:2097152@0 written\n");
  apply(fill(10, kAt + kRangeBytes));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n") << "the object's second half";
  apply(mapped(11, kObject, kRangeBytes, 0, kUnbind));
  apply(fill(12, kAt + 16));
  EXPECT_EQ(journal.take(), "*5000:2097152@0 written\n");
  apply(mapped(13, kShownAt, kRangeBytes, 0));
  apply(free(14, kHandle, kOnDevice));
  journal.take();
  apply(fill(15, kAt + 16));
  EXPECT_EQ(journal.take(), "") << "the block has ended";
}

TEST_F(LiveSetTest, RegisteredMemoryLiesBesideTheBlockThatItIsAPartOf) {
  constexpr test::Where kRegistered{.heap = Heap::Registered};
  apply(alloc(1, 0x1000, 64));
  apply(alloc(2, 0x1000, 64, kRegistered));
  EXPECT_EQ(journal.take(), "+1000:64@0 alloc\n+1000:64@0 alloc\n");
  apply(free(3, 0x1000, kRegistered));
  EXPECT_NE(live.find(1, AddressSpace::Host, 0x1000), nullptr);
  EXPECT_EQ(live.find(1, AddressSpace::Registered, 0x1000), nullptr);
  EXPECT_FALSE(abi::isPhysical(Heap::Registered));
}

} // namespace msleaks::analysis
