// Tests the store of recent paths with an array in place of the stack.
#include "recent_paths.h"
#include "thread_path.h"

#include "msleaks/runtime/page.h"

#include <gtest/gtest.h>
#include <memory>
#include <sys/mman.h>

namespace msleaks::test {
namespace {

using runtime::PathFrame;
using runtime::RecentPaths;
using runtime::StackCheck;

class RecentPathsTest : public ::testing::Test {
protected:
  RecentPathsTest() {
    recent->forget();
    stack.enter(wordsFrom(0));
  }
  ~RecentPathsTest() override { ::munmap(words, 2 * page); }

  uint64_t wordsFrom(size_t index) const { return reinterpret_cast<uint64_t>(words + index); }
  PathFrame innermost(uint64_t address, size_t index = 0) const {
    PathFrame frame{};
    frame.address = address;
    frame.stack_pointer = wordsFrom(index);
    return frame;
  }
  void keep(const PathFrame &frame, std::initializer_list<size_t> indices, uint32_t node) {
    std::vector<StackCheck> checks;
    for (const size_t index : indices)
      checks.push_back({wordsFrom(index), words[index]});
    recent->keep(frame, checks.data(), static_cast<uint32_t>(checks.size()), node);
  }
  uint32_t find(const PathFrame &frame) const {
    return recent->find(stack, {frame.address, frame.stack_pointer, frame.frame_pointer});
  }

  const size_t page = runtime::pageBytes();
  uint64_t *words =
      static_cast<uint64_t *>(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::unique_ptr<RecentPaths> recent{new RecentPaths{}};
  runtime::unwind::Stack stack;
};

TEST_F(RecentPathsTest, AreFoundWhileEachOfTheirWordsIsUnchanged) {
  const PathFrame frame = innermost(100);
  for (const std::initializer_list<size_t> indices :
       {std::initializer_list<size_t>{9}, {9, 7}, {9, 7, 3}, {9, 7, 3, 1}}) {
    keep(frame, indices, 50);
    EXPECT_EQ(find(frame), 50u);
    for (const size_t index : indices) {
      words[index] += 8;
      EXPECT_EQ(find(frame), 0u) << index << " of " << indices.size();
      words[index] -= 8;
    }
    words[2] += 8; // not a word of the path
    EXPECT_EQ(find(frame), 50u);
  }
}

TEST_F(RecentPathsTest, WithTheSameShapeAreAllFound) {
  const PathFrame frame = innermost(100);
  for (uint32_t node = 50; node < 60; ++node) {
    words[9] = uint64_t{node} * 1000;
    keep(frame, {9, 7, 3}, node);
  }
  for (uint32_t node = 50; node < 60; ++node) {
    words[9] = uint64_t{node} * 1000;
    EXPECT_EQ(find(frame), node);
  }
  std::swap(words[9], words[7]);
  EXPECT_EQ(find(frame), 0u);
}

TEST_F(RecentPathsTest, OfTheSameWordsAtOtherPlacesAreNotFound) {
  const PathFrame frame = innermost(100);
  words[9] = words[8] = 5;
  keep(frame, {9, 7, 3}, 50);
  keep(frame, {8, 7, 3}, 51);
  EXPECT_EQ(find(frame), 51u);
  words[8] = 6;
  EXPECT_EQ(find(frame), 0u);
}

TEST_F(RecentPathsTest, OfAnotherInnermostCallAreNotFound) {
  PathFrame frame = innermost(100);
  keep(frame, {9, 7}, 50);
  EXPECT_EQ(find(innermost(101)), 0u);
  EXPECT_EQ(find(innermost(100, 1)), 0u);
  frame.frame_pointer = 8;
  EXPECT_EQ(find(frame), 50u) << "the frame pointer does not matter";
  frame.frame_matters = true;
  keep(frame, {9, 7}, 50);
  EXPECT_EQ(find(frame), 50u);
  frame.frame_pointer = 16;
  EXPECT_EQ(find(frame), 0u);
}

TEST_F(RecentPathsTest, AreForgotten) {
  const PathFrame frame = innermost(100);
  keep(frame, {9, 7}, 50);
  recent->forget();
  EXPECT_EQ(find(frame), 0u);
  keep(innermost(100), {9}, 51);
  EXPECT_EQ(find(frame), 51u);
  words[9] += 8;
  EXPECT_EQ(find(frame), 0u);
}

TEST_F(RecentPathsTest, AreNotReadOutsideOfTheKnownStack) {
  const PathFrame frame = innermost(100);
  const uint64_t second_page = page / sizeof *words;
  keep(frame, {second_page, 7}, 50);
  ::mprotect(words + second_page, page, PROT_NONE);
  EXPECT_EQ(find(frame), 0u);
}

TEST_F(RecentPathsTest, AreNotStoredIfAWordIsNotOnTheStackNearby) {
  const PathFrame frame = innermost(100, 10);
  for (const uint64_t at : {wordsFrom(9), wordsFrom(10) + 4, wordsFrom(11) + (uint64_t{8} << 16), uint64_t{8}}) {
    const StackCheck checks[] = {{wordsFrom(12), 0}, {at, 0}};
    recent->keep(frame, checks, 2, 50);
    EXPECT_EQ(find(frame), 0u);
  }
  std::vector<StackCheck> checks(RecentPaths::kMostWords + 1, {wordsFrom(12), 0});
  recent->keep(frame, checks.data(), RecentPaths::kMostWords + 1, 50);
  EXPECT_EQ(find(frame), 0u);
  recent->keep(frame, checks.data(), RecentPaths::kMostWords, 50);
  EXPECT_EQ(find(frame), 50u);
}

// A step of a training takes about as many different paths. The next step takes them again.
TEST_F(RecentPathsTest, OfAStepOfATrainingAreFoundInTheNextStep) {
  constexpr uint32_t kInnermost = 1'500, kPaths = 4'500;
  const auto call = [&](uint32_t path) {
    words[9] = path;
    return innermost(path % kInnermost);
  };
  for (uint32_t path = 1; path <= kPaths; ++path) {
    const PathFrame frame = call(path);
    keep(frame, {9, 7}, path);
  }
  uint32_t found = 0;
  for (uint32_t path = 1; path <= kPaths; ++path)
    found += find(call(path)) == path;
  EXPECT_GT(found, kPaths / 10 * 9);
}

TEST_F(RecentPathsTest, ThatAreManyReplaceEachOther) {
  constexpr uint32_t kMany = 50'000;
  for (uint32_t node = 1; node <= kMany; ++node)
    keep(innermost(node), {9, 7}, node);
  uint32_t found = 0;
  for (uint32_t node = 1; node <= kMany; ++node) {
    const uint32_t known = find(innermost(node));
    EXPECT_TRUE(known == 0 || known == node);
    found += known != 0;
  }
  EXPECT_GT(found, 100u);
  EXPECT_EQ(find(innermost(kMany)), kMany);
}

} // namespace
} // namespace msleaks::test
