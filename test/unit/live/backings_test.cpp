// Tests blocks of a device that is the host's processor. The driver gets the memory of such a block from malloc. The
// device's block and malloc's block are the same memory, which must count once.
#include "live_set_fixture.h"

namespace msleaks::analysis {
namespace {

using test::alloc;
using test::free;
using test::Where;

constexpr Where kDriver{.flags = abi::kFromHook | abi::kDriver, .site = 1};
constexpr Where kFromOther{.flags = abi::kFromHook, .site = 2};
constexpr Where kBuffer{.heap = abi::Heap::Device, .site = 3};
constexpr Where kShared{.heap = abi::Heap::Managed, .site = 4};
constexpr uint64_t kChunkBytes = 1 << 20;

using BackingsTest = LiveSetTest;

} // namespace

TEST_F(BackingsTest, WhatIsTakenLaterStandsBehindTheBuffer) {
  apply(alloc(1, 0x10, kChunkBytes, kBuffer));
  apply(alloc(2, 0x1000, kChunkBytes, kDriver));
  EXPECT_EQ(journal.bytes, kChunkBytes);
  EXPECT_EQ(journal.blocks, 2u);
  apply(alloc(3, 0x2000000, kChunkBytes, kDriver)); // the only buffer already has its memory
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes);
  apply(free(4, 0x10, kBuffer));
  apply(free(5, 0x1000));
  apply(free(6, 0x2000000));
  EXPECT_EQ(journal.bytes, 0u);
}

TEST_F(BackingsTest, WhatIsTakenFirstStandsBehindTheBufferThatComes) {
  apply(alloc(1, 0x1000, kChunkBytes, kDriver));
  EXPECT_EQ(journal.bytes, kChunkBytes);
  apply(alloc(2, 0x5000000, 4096, kDriver));
  apply(alloc(3, 0x10, kChunkBytes, kBuffer));
  EXPECT_EQ(journal.bytes, kChunkBytes + 4096);
  apply(alloc(4, 0x20, kChunkBytes, kBuffer)); // no block of the driver is left for this buffer
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes + 4096);
}

TEST_F(BackingsTest, SharedMemoryIsTheHostsBlockItself) {
  apply(alloc(1, 0x1000, kChunkBytes, kDriver));
  apply(alloc(2, 0x1000, kChunkBytes, kShared));
  EXPECT_EQ(journal.bytes, kChunkBytes);
  apply(free(3, 0x1000, kShared));
  apply(free(4, 0x1000));
  EXPECT_EQ(journal.bytes, 0u);
}

// The program releases a buffer that a queue still uses. So the driver keeps the buffer's memory for a while. This
// memory must not count as the memory of the next buffer.
TEST_F(BackingsTest, MemoryThatOutlivesItsBufferCountsForItself) {
  apply(alloc(1, 0x10, kChunkBytes, kBuffer));
  apply(alloc(2, 0x1000, kChunkBytes, kDriver));
  apply(free(3, 0x10, kBuffer));
  EXPECT_EQ(journal.bytes, 0u); // the call that releases the buffer may still free the memory
  apply(alloc(4, 0x20, kChunkBytes, kBuffer));
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes); // the driver did not free the memory
  apply(alloc(5, 0x2000000, kChunkBytes, kDriver));
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes);
  apply(free(6, 0x1000));
  EXPECT_EQ(journal.bytes, kChunkBytes);
  apply(free(7, 0x2000000));
  apply(free(8, 0x20, kBuffer));
  EXPECT_EQ(journal.bytes, 0u);
  EXPECT_EQ(journal.blocks, 0u);
}

// The free of a buffer is recorded before the driver frees the buffer's memory. The memory must not count as a block of
// its own between these two events.
TEST_F(BackingsTest, MemoryThatGoesWithItsBufferNeverCountsForItself) {
  apply(alloc(1, 0x10, kChunkBytes, kBuffer));
  apply(alloc(2, 0x1000, kChunkBytes, kDriver));
  apply(free(3, 0x10, kBuffer));
  apply(free(4, 0x1000));
  apply(alloc(5, 0x3000, 64, kFromOther));
  EXPECT_EQ(journal.bytes, 64u);
}

TEST_F(BackingsTest, AllMemoryThatOutlivesBuffersOfOneSizeCounts) {
  apply(alloc(1, 0x10, kChunkBytes, kBuffer));
  apply(alloc(2, 0x1000, kChunkBytes, kDriver));
  apply(alloc(3, 0x20, kChunkBytes, kBuffer));
  apply(alloc(4, 0x2000000, kChunkBytes, kDriver));
  apply(free(5, 0x10, kBuffer));
  apply(free(6, 0x20, kBuffer));
  EXPECT_EQ(journal.bytes, 0u);
  apply(alloc(7, 0x3000, 64, kFromOther));
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes + 64);
}

// With CL_MEM_USE_HOST_PTR, the buffer uses a host block of the program. The host block must count once, and the buffer
// must not count.
TEST_F(BackingsTest, ABufferInMemoryThatTheProgramGivesHasNone) {
  apply(alloc(1, 0x1000, kChunkBytes, kFromOther));
  apply(alloc(2, 0x10, kChunkBytes, {.heap = abi::Heap::Device, .flags = abi::kReserve, .site = 3}));
  EXPECT_EQ(journal.bytes, kChunkBytes);
  apply(alloc(3, 0x2000000, kChunkBytes, kDriver)); // this memory does not belong to a buffer
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes);
  apply(alloc(4, 0x20, kChunkBytes, {.heap = abi::Heap::Device, .flags = abi::kReserve, .site = 3}));
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes);
}

TEST_F(BackingsTest, NothingElseDoes) {
  apply(alloc(1, 0x10, kChunkBytes, kBuffer));
  apply(alloc(2, 0x1000, kChunkBytes, kFromOther));     // the program's own block
  apply(alloc(3, 0x3000000, kChunkBytes / 2, kDriver)); // has another size
  apply(alloc(4, 0x20, 100, kBuffer));
  apply(alloc(5, 0x4000000, 100, kDriver)); // the same size as the buffer, but too small to count as its memory
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes + kChunkBytes / 2 + 200);
}

TEST_F(BackingsTest, ABufferThatIsGoneWaitsForNothing) {
  apply(alloc(1, 0x10, kChunkBytes, kBuffer));
  apply(free(2, 0x10, kBuffer));
  apply(alloc(3, 0x1000, kChunkBytes, kDriver));
  EXPECT_EQ(journal.bytes, kChunkBytes);
}

TEST_F(BackingsTest, AnotherThreadsCallTakesForItsOwn) {
  apply(alloc(1, 0x1000, kChunkBytes, kDriver));
  Where other = kBuffer;
  other.stream = 1;
  apply(alloc(2, 0x10, kChunkBytes, other));
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes);
  apply(alloc(3, 0x20, kChunkBytes, kBuffer));
  EXPECT_EQ(journal.bytes, 2 * kChunkBytes);
}

TEST_F(BackingsTest, ABlockThatWasFreedMeanwhileDoesNot) {
  apply(alloc(1, 0x1000, kChunkBytes, kDriver));
  apply(free(2, 0x1000));
  apply(alloc(3, 0x10, kChunkBytes, kBuffer));
  EXPECT_EQ(journal.bytes, kChunkBytes);
  EXPECT_EQ(journal.blocks, 1u);
}

} // namespace msleaks::analysis
