// Tests the looks at the C library's heap, with this process' own heap.
#include "analysis/reach/heap_looks.h"

#include "analysis/base/machine.h"
#include "msleaks/abi/sampled_block.h"

#include "pages_events.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <thread>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr size_t kBlocks = 4000, kBytes = 4000, kAll = kBlocks * kBytes;

char changed_data[1 << 20] = {1}; // a page of the file until the test changes it

using msleaks::test::eventsIn;

std::vector<void *> filledBlocks() {
  std::vector<void *> blocks;
  for (size_t i = 0; i < kBlocks; ++i)
    blocks.push_back(std::memset(std::malloc(kBytes), 1, kBytes));
  return blocks;
}

const abi::PagesEvent *partWith(const void *block, const std::vector<abi::PagesEvent> &events) {
  const auto at = reinterpret_cast<uintptr_t>(block);
  const auto found = std::find_if(events.begin(), events.end(), [&](const abi::PagesEvent &event) {
    return at >= event.address && at - event.address < event.size;
  });
  return found == events.end() ? nullptr : &*found;
}

const abi::PagesEvent *imagesIn(const std::vector<abi::PagesEvent> &events) {
  return !events.empty() && events.back().at_exit == abi::kPagesOfImages ? &events.back() : nullptr;
}

class HeapLooksTest : public testing::Test {
protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "malloc is the sanitizer's";
#endif
    if (!ProcessMemory(static_cast<uint32_t>(getpid())).tellsTouched())
      GTEST_SKIP() << "this kernel tells no pages";
  }
  std::vector<abi::PagesEvent> look(bool at_exit = false) { return eventsIn(looks.look(readMonotonicNs(), at_exit)); }

  HeapLooks looks{static_cast<uint32_t>(getpid())};
};

TEST_F(HeapLooksTest, TellHowMuchOfTheMainArenaIsResident) {
  const std::vector<void *> blocks = filledBlocks();
  const auto events = look();
  const abi::PagesEvent *part = partWith(blocks.back(), events);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->at_exit & 15, abi::kPagesOfHeap);
  EXPECT_EQ(uint64_t{1} << (part->at_exit >> abi::kPageShiftBit), systemPageBytes());
  EXPECT_GE(part->touched, kAll);
  EXPECT_LE(part->touched, part->size);
  const abi::PagesEvent *images = imagesIn(events);
  ASSERT_NE(images, nullptr);
  EXPECT_EQ(images[-1].allocated_ns, 0u) << "no part follows";
  for (void *block : blocks)
    std::free(block);
  malloc_trim(0);
  const auto after = look();
  ASSERT_FALSE(after.empty()) << "a report must learn that the memory was given back";
  uint64_t left = 0;
  for (const abi::PagesEvent &event : after)
    left += (event.at_exit & abi::kPagesOfHeap) != 0 ? event.touched : 0;
  EXPECT_LT(left, kAll / 2);
  EXPECT_TRUE(look().empty()) << "a small heap is not told again";
}

TEST_F(HeapLooksTest, TellOfTheArenasOfThreads) {
  std::vector<void *> blocks;
  std::vector<abi::PagesEvent> events;
  std::thread([&] {
    blocks = filledBlocks();
    void *last = std::malloc(kBytes); // malloc keeps free memory at the end of an arena, which is no part
    events = look();
    std::free(last);
  }).join();
  const abi::PagesEvent *part = partWith(blocks[kBlocks / 2], events);
  for (void *block : blocks)
    std::free(block);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->at_exit & 15, abi::kPagesOfHeap | abi::kPagesOfArena);
  EXPECT_GE(part->touched, kAll / 2);
}

TEST_F(HeapLooksTest, TellHowMuchDataOfImagesIsChanged) {
  const std::vector<void *> blocks = filledBlocks();
  const auto before = look();
  std::memset(changed_data, 2, sizeof changed_data);
  const auto after = look();
  for (void *block : blocks)
    std::free(block);
  ASSERT_TRUE(imagesIn(before) && imagesIn(after));
  const uint64_t changed = imagesIn(after)->touched - imagesIn(before)->touched;
  EXPECT_GE(changed, sizeof changed_data - 2 * systemPageBytes());
  EXPECT_LE(changed, sizeof changed_data + 64 * systemPageBytes());
  EXPECT_LE(imagesIn(after)->touched, imagesIn(after)->size);
}

TEST_F(HeapLooksTest, EndWithTheProcess) {
  EXPECT_TRUE(looks.isDue(1));
  look(true);
  EXPECT_FALSE(looks.isDue(UINT64_MAX - 1));
}

} // namespace
} // namespace msleaks::analysis
