// Tests which pages of a watched block are protected, and how its changed bytes are found.
#include "analysis/second_run/one_instruction.h"
#include "analysis/second_run/watched_process.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kWritable = PROT_READ | PROT_WRITE;

MappedRange mapped(uint64_t begin, uint64_t end, bool writable, bool executable = false) {
  return {begin, end, true, writable, executable, 0, {}};
}

ClosablePages pages(uint64_t begin, uint64_t end, int protection = kWritable) { return {{begin, end}, protection}; }

TEST(PagesOf, AllThatTheBlockTouches) {
  const std::vector memory{mapped(0x10000, 0x20000, true)};
  EXPECT_THAT(pagesOf(memory, {0x12ff0, 0x13010}, kPage, {}), testing::ElementsAre(pages(0x12000, 0x14000)));
  EXPECT_THAT(pagesOf(memory, {0x12000, 0x13000}, kPage, {}), testing::ElementsAre(pages(0x12000, 0x13000)));
  EXPECT_THAT(pagesOf(memory, {0x30000, 0x31000}, kPage, {}), testing::IsEmpty());
}

TEST(PagesOf, NoneThatIsReadOnly) {
  const std::vector memory{mapped(0x10000, 0x12000, true), mapped(0x12000, 0x13000, false),
                           mapped(0x13000, 0x14000, true, true)};
  EXPECT_THAT(pagesOf(memory, {0x11000, 0x14000}, kPage, {}),
              testing::ElementsAre(pages(0x11000, 0x12000), pages(0x13000, 0x14000, kWritable | PROT_EXEC)));
  EXPECT_EQ(pages(0, kPage, kWritable | PROT_EXEC).closed(), PROT_READ | PROT_EXEC);
}

TEST(PagesOf, NoneOfAThreadsOwn) {
  const std::vector memory{mapped(0x10000, 0x20000, true)};
  const std::vector<PageRange> own{{0x11f00, 0x12100}};
  EXPECT_THAT(pagesOf(memory, {0x10000, 0x14000}, kPage, own),
              testing::ElementsAre(pages(0x10000, 0x11000), pages(0x13000, 0x14000)));
}

class WatchedBlockTest : public testing::Test {
protected:
  static constexpr uint64_t kAt = 0x1000;
  std::string memory = std::string(64, '.');
  WatchedBlock block{{kAt + 8, kAt + 40}, {pages(kAt, kAt + kPage)}};
  WatchedBlock::Read read = [this](uint64_t address, std::span<std::byte> to) {
    const uint64_t bytes = std::min<uint64_t>(to.size(), kAt + memory.size() - address);
    std::memcpy(to.data(), memory.data() + (address - kAt), bytes);
    return bytes;
  };
};

TEST_F(WatchedBlockTest, ChangesAreToldOnceAndFromTheFirstByteToTheLast) {
  block.keep(read);
  EXPECT_FALSE(block.change({0, UINT64_MAX}, read));
  memory[10] = memory[15] = 'x';
  const auto changed = block.change({0, UINT64_MAX}, read);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->begin, 2u);
  EXPECT_EQ(changed->end, 8u);
  EXPECT_FALSE(block.change({0, UINT64_MAX}, read));
}

TEST_F(WatchedBlockTest, OnlyWhatIsAskedAbout) {
  block.keep(read);
  memory[0] = memory[63] = 'x'; // these bytes are outside of the block
  EXPECT_FALSE(block.change({0, UINT64_MAX}, read));
  memory[20] = memory[30] = 'x';
  const auto first = block.change({kAt + 25, kAt + 35}, read);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->begin, 22u);
  const auto rest = block.change({0, UINT64_MAX}, read);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->begin, 12u);
  EXPECT_EQ(rest->end, 13u);
}

TEST_F(WatchedBlockTest, MemoryThatIsGoneHasNotChanged) {
  block.keep(read);
  memory.resize(16);
  EXPECT_FALSE(block.change({0, UINT64_MAX}, read));
}

TEST_F(WatchedBlockTest, BuffersOnItsPages) {
  EXPECT_TRUE(block.liesOn({kAt - 10, 11}));
  EXPECT_TRUE(block.liesOn({kAt + 4000, 0}));
  EXPECT_TRUE(block.liesOn({kAt, UINT64_MAX}));
  EXPECT_FALSE(block.liesOn({kAt - 10, 10}));
  EXPECT_FALSE(block.liesOn({kAt + kPage, 1}));
}

TEST(RepeatedWrite, ThoseWithAPrefixThatRepeats) {
  const auto bytesOf = [](std::vector<uint8_t> code) { return repeatedWriteBytes(code.data(), code.size()); };
  EXPECT_EQ(bytesOf({0xf3, 0xaa, 0x90}), 2u);       // rep stosb
  EXPECT_EQ(bytesOf({0xf3, 0x48, 0xab}), 3u);       // rep stosq
  EXPECT_EQ(bytesOf({0x66, 0xf3, 0xa5}), 3u);       // rep movsw
  EXPECT_EQ(bytesOf({0xaa}), 0u);                   // stosb
  EXPECT_EQ(bytesOf({0xf3, 0x0f, 0x7f, 0x07}), 0u); // movdqu
  EXPECT_EQ(bytesOf({0x88, 0x07}), 0u);             // mov
  EXPECT_EQ(bytesOf({0xf3}), 0u);
  EXPECT_EQ(bytesOf({}), 0u);
}

} // namespace
} // namespace msleaks::analysis
