// Tests the blocks that begin and end in each part of a run (analysis/report/turnover.h).
#include "report_fixture.h"

#include "analysis/result/pictures.h"

#include <numeric>

namespace msleaks::analysis {
namespace {

class TurnoverTest : public ReportTest {
protected:
  // Ends process 1, and returns the turnover of the run.
  Turnover finish(uint64_t end_ns) {
    end(1, 0, end_ns);
    manifest();
    close();
    return turnoverOf({});
  }
  Turnover turnoverOf(const Window &window) const {
    ReportQuestion question;
    question.wants_pictures = true;
    question.window = window;
    const auto report = analyzeRun(run, question);
    EXPECT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report && report->pictures);
    return report && report->pictures ? report->pictures->turnover : Turnover{};
  }
  // Adds up the changes of all parts.
  static Turnover::Change allOf(const Turnover::Line &line) {
    Turnover::Change all;
    for (const Turnover::Change &change : line.changes) {
      all.born += change.born;
      all.freed += change.freed;
      all.other += change.other;
    }
    return all;
  }
  static Turnover::Line lineAt(const Turnover &turnover, uint32_t line) {
    for (const Turnover::Line &found : turnover.lines)
      if (found.place && found.place->line == line)
        return found;
    ADD_FAILURE() << "no blocks at line " << line;
    return {};
  }
  static constexpr uint32_t kLineOfOne = 12, kLineOfTwo = 3;
  using Sum = Turnover::Sum;
};

} // namespace

TEST_F(TurnoverTest, EachPartHasItsBirthsAndFrees) {
  start(1, 4711);
  events({test::alloc(kStart + 1000, 0x1000, 300, kOne), test::alloc(kStart + 1001, 0x2000, 500, kOne),
          test::free(kStart + 5000, 0x2000, kOne), test::alloc(kStart + 5001, 0x3000, 40, kOne)});
  const Turnover turnover = finish(kStart + 9000);
  ASSERT_EQ(turnover.lines.size(), 1u);
  EXPECT_EQ(turnover.edges.front(), 1000u);
  EXPECT_EQ(turnover.edges.back(), 9000u);
  EXPECT_TRUE(std::ranges::is_sorted(turnover.edges));
  ASSERT_EQ(turnover.lines[0].changes.size(), 2u) << "both changes are in parts of 1,024 ns of their own";
  const Turnover::Change &first = turnover.lines[0].changes[0], &second = turnover.lines[0].changes[1];
  EXPECT_EQ(first, (Turnover::Change{0, {800, 2}, {}, {}}));
  EXPECT_EQ(second, (Turnover::Change{3, {40, 1}, {500, 1}, {}}));
  EXPECT_LE(turnover.edges[3], 5000u);
  EXPECT_GT(turnover.edges[4], 5001u);
}

TEST_F(TurnoverTest, ALongRunHasFewParts) {
  start(1, 4711);
  std::vector<StreamEvent> list;
  for (uint64_t i = 0; i < 10'000; ++i) {
    list.push_back(test::alloc(kStart + (i + 1) * kMs, 0x1000 + i * 0x100, 1, kOne));
    if (i % 2 == 1)
      list.push_back(test::free(kStart + (i + 1) * kMs + 1, 0x1000 + i * 0x100, kOne));
  }
  events(list);
  const Turnover turnover = finish(kStart + 20'000 * kMs);
  EXPECT_LE(turnover.edges.size(), Turnover::kMostParts + 1);
  EXPECT_GT(turnover.edges.size(), Turnover::kMostParts / 2);
  EXPECT_EQ(turnover.edges.back(), 20'000 * kMs);
  ASSERT_EQ(turnover.lines.size(), 1u);
  EXPECT_EQ(allOf(turnover.lines[0]), (Turnover::Change{0, {10'000, 10'000}, {5000, 5000}, {}}));
  for (size_t i = 1; i < turnover.lines[0].changes.size(); ++i)
    EXPECT_LT(turnover.lines[0].changes[i - 1].part, turnover.lines[0].changes[i].part);
}

// The program only sleeps after its last event.
TEST_F(TurnoverTest, TheLastEdgeIsTheEndOfTheLastProcess) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 300, kOne), test::free(kStart + 20, 0x1000, kOne)});
  const Turnover turnover = finish(kStart + 60'000 * kMs);
  EXPECT_LE(turnover.edges.size(), Turnover::kMostParts + 1);
  EXPECT_EQ(turnover.edges.back(), 60'000 * kMs);
}

TEST_F(TurnoverTest, BlocksOfAnEarlierProcessAreGoneAtItsEnd) {
  start(1, 4711);
  start(2, 4712);
  events(
      {test::alloc(kStart + 10, 0x1000, 300, kOne), test::alloc(kStart + 20, 0x1000, 70, {.process = 2, .site = 2})});
  end(2, 0, kStart + 1000);
  const Turnover turnover = finish(kStart + 9000);
  EXPECT_EQ(allOf(lineAt(turnover, kLineOfOne)).other, Sum{}) << "they are alive at the last edge";
  EXPECT_EQ(allOf(lineAt(turnover, kLineOfTwo)).other, (Sum{-70, -1}));
}

TEST_F(TurnoverTest, AFailedReallocFreesNothing) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 300, kOne),
          test::free(kStart + 20, 0x1000, {.flags = abi::kRealloc, .site = 1}),
          test::alloc(kStart + 30, 0x1000, 300, {.flags = abi::kRealloc | abi::kRestored, .site = 1})});
  const Turnover turnover = finish(kStart + 900);
  ASSERT_EQ(turnover.lines.size(), 1u);
  EXPECT_EQ(allOf(turnover.lines[0]), (Turnover::Change{0, {300, 1}, {}, {}}));
}

TEST_F(TurnoverTest, BlocksThatWereThereBeforeTheWindowAreNotBorn) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 300, kOne), test::alloc(kStart + 5000, 0x2000, 500, kOne),
          test::free(kStart + 6000, 0x1000, kOne)});
  finish(kStart + 9000);
  const Turnover turnover = turnoverOf(*parseWindow("2us", "8us"));
  ASSERT_EQ(turnover.lines.size(), 1u);
  EXPECT_EQ(turnover.lines[0].before, (Sum{300, 1}));
  EXPECT_EQ(allOf(turnover.lines[0]), (Turnover::Change{0, {500, 1}, {300, 1}, {}}));
}

TEST_F(TurnoverTest, OnlyAPageAsksForIt) {
  start(1, 4711);
  events({test::alloc(kStart + 10, 0x1000, 300, kOne)});
  finish(kStart + 900);
  const auto report = analyzeRun(run);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->pictures);
}

} // namespace msleaks::analysis
