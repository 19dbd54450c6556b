// Tests which call paths the row of a place shows, and their texts.
#include "analysis/text/callers.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

std::shared_ptr<SiteText> called(const std::string &function, uint32_t line) {
  auto text = std::make_shared<SiteText>();
  text->function = function;
  text->file = "net.cpp";
  text->line = line;
  text->origin = SiteOrigin::Pass;
  return text;
}

const auto place = called("make", 1), main_at_9 = called("main", 9);

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

// Returns all texts of a row, one per line.
std::string shown(const SiteLine &line) {
  std::string text;
  for (const CallersText &each : callersOf(line, 60))
    for (const std::string &caller : each.lines)
      text += caller + "\n";
  return text;
}

TEST(RowCallers, OfAPathThatMostBytesTookItIsShownAlone) {
  const SiteLine line = lineOf({path(80, {called("load", 5)}), path(20, {called("save", 7)})});
  EXPECT_EQ(shown(line), "< net.cpp:5 in load\n"
                         "< net.cpp:9 in main\n");
  EXPECT_EQ(callersOf(line, 60).front().paths, 1u);
}

TEST(RowCallers, OfSeveralThatSharedThemEachHasItsShare) {
  const SiteLine line = lineOf({path(40, {called("load", 5)}), path(35, {called("save", 7)}), path(25, {})});
  EXPECT_EQ(shown(line), "40% < net.cpp:5 in load\n"
                         "    < net.cpp:9 in main\n"
                         "35% < net.cpp:7 in save\n"
                         "    < net.cpp:9 in main\n");
}

TEST(RowCallers, AreOfThreePathsAtMost) {
  std::vector<PathLine> paths;
  for (uint32_t i = 0; i < 10; ++i)
    paths.push_back(path(10, {called("load", 10 + i)}));
  const auto rows = callersOf(lineOf(paths, 100), 60);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.front().lines.front(), " 5% < net.cpp:10 in load");
}

TEST(RowCallers, PathsThatDifferFurtherOutAreOne) {
  const auto a = called("a", 2), b = called("b", 3), c = called("c", 4);
  const auto rows = callersOf(lineOf({path(50, {called("other", 8)}), path(30, {a, b, c, called("d", 5)}),
                                      path(30, {a, b, c, called("e", 6)})}),
                              60);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].paths, 2u);
  EXPECT_EQ(rows[0].weight, 60u);
  EXPECT_EQ(rows[0].lines,
            (std::vector<std::string>{"55% < net.cpp:2 in a", "    < net.cpp:3 in b", "    < net.cpp:4 in c"}));
  EXPECT_EQ(rows[1].lines.front(), "45% < net.cpp:8 in other");
}

TEST(RowCallers, APlaceThatNobodyCalledSaysSo) {
  const SiteLine line = lineOf({path(50, {called("load", 5)}), {50, 1, {place}, true, 0}});
  EXPECT_EQ(shown(line), "50% < net.cpp:5 in load\n"
                         "    < net.cpp:9 in main\n"
                         "50% no caller\n");
}

std::shared_ptr<SiteText> called(const std::string &function, const std::string &file) {
  auto text = called(function, 7);
  text->file = file;
  return text;
}

TEST(RowCallers, EveryWrapperOnTheWayIsShown) {
  SiteLine line = lineOf({});
  line.bytes = 100;
  line.paths = {{100, 1, {called("text_of", 5), called("copy_of", 6), place, main_at_9}, true, 0}};
  EXPECT_EQ(shown(line), "> net.cpp:6 in copy_of\n"
                         "> net.cpp:5 in text_of\n"
                         "< net.cpp:9 in main\n");
}

TEST(RowCallers, OfManyWrappersTheOneThatAllocatesIsShown) {
  SiteLine line = lineOf({});
  line.bytes = 100;
  line.paths = {{100, 1, {}, true, 0}};
  for (uint32_t i = 0; i < 10; ++i)
    line.paths[0].calls.push_back(called("wrap", 10 + i));
  line.paths[0].calls.push_back(place);
  EXPECT_EQ(shown(line), "> net.cpp:19 in wrap\n> net.cpp:18 in wrap\n> net.cpp:17 in wrap\n> net.cpp:10 in wrap\n");
}

TEST(RowCallers, TheStandardLibraryIsNoCaller) {
  const std::string header = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/alloc_traits.h";
  EXPECT_EQ(shown(lineOf({path(10, {called("std::pair<int, Bag>::pair(Bag const&)", header),
                                    called("std::vector<Bag>::push_back(Bag const&)", header),
                                    called("std::allocator<Bag>::construct()", header), called("search", 5)})})),
            "< net.cpp:5 in search\n"
            "< net.cpp:9 in main\n");
}

// If main ends with a tail call, its frame is not on the stack while the callee runs. So the path lacks main, but
// contains the functions of libc that call main. These functions must not be shown.
TEST(RowCallers, TheCodeThatImportsAModuleIsNoCaller) {
  const auto import = called("_find_and_load", 1027);
  import->origin = SiteOrigin::Python;
  import->file = "<frozen importlib._bootstrap>";
  EXPECT_EQ(shown(lineOf({path(80, {import, called("<module>", 5)})})), "< net.cpp:5 in <module>\n"
                                                                        "< net.cpp:9 in main\n");
}

TEST(RowCallers, WhatCallsMainIsNoCaller) {
  SiteLine line = lineOf({});
  line.bytes = 10;
  const auto start = called("_start", 0);
  start->file = "";
  line.paths = {{10,
                 1,
                 {place, called("work", 4), called("__libc_start_call_main", 58),
                  called("__libc_start_main@@GLIBC_2.34", 128), start},
                 true,
                 0}};
  EXPECT_EQ(shown(line), "< net.cpp:4 in work\n");
}

TEST(RowCallers, ALongNameKeepsTheFunction) {
  const std::string function = "engine::tokenizer::Lattice<double, std::allocator<double> >::Insert(unsigned long)";
  EXPECT_EQ(shown(lineOf({path(10, {called(function, 5)})})),
            "< net.cpp:5 in engine::tokenizer::Lattice<...>::Insert(...)\n"
            "< net.cpp:9 in main\n");
}

TEST(RowCallers, OfHandlesTheNumberCounts) {
  SiteLine line = lineOf({path(40, {called("load", 5)}), path(60, {called("save", 7)})});
  line.bytes = 0;
  line.count = 100;
  line.paths[0].count = 40;
  line.paths[1].count = 60;
  for (PathLine &each : line.paths)
    each.bytes = 0;
  EXPECT_EQ(shown(line), "60% < net.cpp:7 in save\n    < net.cpp:9 in main\n"
                         "40% < net.cpp:5 in load\n    < net.cpp:9 in main\n");
}

} // namespace
} // namespace msleaks::analysis
