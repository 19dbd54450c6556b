// Which of the paths that led to a place its row shows, and what it says of them.
#include "analysis/report/callers.h"

#include <gtest/gtest.h>

namespace msleaks::test {
namespace {

using namespace analysis;

std::shared_ptr<SiteText> call(const std::string &function, uint32_t line) {
  auto text = std::make_shared<SiteText>();
  text->function = function;
  text->file = "net.cpp";
  text->line = line;
  text->origin = SiteOrigin::Pass;
  return text;
}

const auto place = call("make", 1), main_at_9 = call("main", 9);

PathLine path(uint64_t bytes, std::vector<std::shared_ptr<const SiteText>> callers) {
  callers.insert(callers.begin(), place);
  callers.push_back(main_at_9);
  return {bytes, 1, std::move(callers), true, 0};
}

SiteLine lineOf(std::vector<PathLine> paths, uint64_t more_bytes = 0) {
  SiteLine line;
  line.site = *place;
  line.own = true;
  line.bytes = more_bytes;
  for (const PathLine &each : paths)
    line.bytes += each.bytes;
  line.paths = std::move(paths);
  return line;
}

// All that a row says, a line each.
std::string shown(const SiteLine &line) {
  std::string text;
  for (const CallersText &each : callersOf(line, 60))
    for (const std::string &caller : each.lines)
      text += caller + "\n";
  return text;
}

TEST(RowCallers, OfAPathThatMostBytesTookItIsShownAlone) {
  const SiteLine line = lineOf({path(80, {call("load", 5)}), path(20, {call("save", 7)})});
  EXPECT_EQ(shown(line), "< net.cpp:5 in load\n"
                         "< net.cpp:9 in main\n");
  EXPECT_EQ(callersOf(line, 60).front().paths, 1u);
}

TEST(RowCallers, OfSeveralThatSharedThemEachHasItsShare) {
  const SiteLine line = lineOf({path(40, {call("load", 5)}), path(35, {call("save", 7)}), path(25, {})});
  EXPECT_EQ(shown(line), "40% < net.cpp:5 in load\n"
                         "    < net.cpp:9 in main\n"
                         "35% < net.cpp:7 in save\n"
                         "    < net.cpp:9 in main\n");
}

TEST(RowCallers, AreOfThreePathsAtMost) {
  std::vector<PathLine> paths;
  for (uint32_t i = 0; i < 10; ++i)
    paths.push_back(path(10, {call("load", 10 + i)}));
  const auto rows = callersOf(lineOf(paths, 100), 60);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.front().lines.front(), " 5% < net.cpp:10 in load");
}

TEST(RowCallers, PathsThatDifferFurtherOutAreOne) {
  const auto a = call("a", 2), b = call("b", 3), c = call("c", 4);
  const auto rows = callersOf(
      lineOf({path(50, {call("other", 8)}), path(30, {a, b, c, call("d", 5)}), path(30, {a, b, c, call("e", 6)})}), 60);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].paths, 2u);
  EXPECT_EQ(rows[0].bytes, 60u);
  EXPECT_EQ(rows[0].lines,
            (std::vector<std::string>{"55% < net.cpp:2 in a", "    < net.cpp:3 in b", "    < net.cpp:4 in c"}));
  EXPECT_EQ(rows[1].lines.front(), "45% < net.cpp:8 in other");
}

TEST(RowCallers, APlaceThatNobodyCalledSaysSo) {
  SiteLine line = lineOf({path(50, {call("load", 5)}), {50, 1, {place}, true, 0}});
  EXPECT_EQ(shown(line), "50% < net.cpp:5 in load\n"
                         "    < net.cpp:9 in main\n"
                         "50% no caller\n");
}

} // namespace
} // namespace msleaks::test
