// Tests how the collector answers a process that watches a source line. The collector must not wait during the search.
#include "analysis/collect/watch_answer.h"

#include "arena_maker.h"

#include <future>
#include <gtest/gtest.h>
#include <stdexcept>

namespace msleaks::test {
namespace {

using analysis::ArenaReader;
using analysis::WatchAnswers;

class WatchAnswersTest : public testing::Test {
protected:
  ArenaReader openArena() {
    auto opened = ArenaReader::open(maker.path());
    if (!opened || !*opened)
      throw std::runtime_error("no arena");
    return std::move(**opened);
  }
  void ask(uint32_t image) { maker.header().watch_image.store(image); }

  ScratchFolder folder;
  ArenaMaker maker{folder.path()};
  ArenaReader arena = openArena();
  std::promise<void> found;
};

TEST_F(WatchAnswersTest, TheCollectorGoesOnDuringASearch) {
  std::promise<void> may_end;
  std::filesystem::path asked_file;
  uint32_t asked_image = 0;
  WatchAnswers answers(
      [&](const std::filesystem::path &definitions, uint32_t image) {
        asked_file = definitions;
        asked_image = image;
        may_end.get_future().wait();
        return std::vector<abi::WatchRange>{{0x100, 0x180}, {0x200, 0x210}};
      },
      [&] { found.set_value(); });
  answers.serve(arena);
  ask(7);
  answers.serve(arena); // returns although the search has not ended
  answers.serve(arena);
  EXPECT_EQ(arena.askedImage(), 7u);
  may_end.set_value();
  found.get_future().wait();
  answers.serve(arena);
  EXPECT_EQ(arena.askedImage(), 0u);
  EXPECT_EQ(asked_image, 7u);
  EXPECT_EQ(asked_file, maker.definitions());
  ASSERT_EQ(maker.header().watch_ranges, 2u);
  EXPECT_EQ(maker.header().watch_range[1].begin, 0x200u);
  EXPECT_EQ(maker.header().watch_range[1].end, 0x210u);
}

TEST_F(WatchAnswersTest, AnAnswerToAnEarlierQuestionIsDropped) {
  std::promise<void> both;
  uint32_t searches = 0;
  WatchAnswers answers(
      [](const std::filesystem::path &, uint32_t image) {
        return std::vector<abi::WatchRange>{{image, image + 1}};
      },
      [&] { ++searches == 1 ? found.set_value() : both.set_value(); });
  ask(7);
  answers.serve(arena);
  found.get_future().wait();
  ask(8); // the process no longer waits for the first answer
  answers.serve(arena);
  EXPECT_EQ(arena.askedImage(), 8u);
  answers.serve(arena);
  both.get_future().wait();
  answers.serve(arena);
  EXPECT_EQ(arena.askedImage(), 0u);
  ASSERT_EQ(maker.header().watch_ranges, 1u);
  EXPECT_EQ(maker.header().watch_range[0].begin, 8u);
}

TEST_F(WatchAnswersTest, ASearchThatFailsFindsNoCode) {
  WatchAnswers answers([](const std::filesystem::path &, uint32_t) -> std::vector<abi::WatchRange> {
    throw std::runtime_error("no memory");
  }, [&] { found.set_value(); });
  ask(7);
  answers.serve(arena);
  found.get_future().wait();
  answers.serve(arena);
  EXPECT_EQ(arena.askedImage(), 0u);
  EXPECT_EQ(maker.header().watch_ranges, 0u);
}

} // namespace
} // namespace msleaks::test
