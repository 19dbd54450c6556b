#include "analysis/counts/graphs_profile.h"

#include "analysis/counts/lnt_format.h"
#include "test/unit/graphs/counted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using profiles::ProfiledFunction;
using test::counted;
using ::testing::ElementsAre;
using ::testing::Pair;

// Returns a function with the basic blocks 1 → 2 → 3. Block 2 also has edges to itself and to block 1.
CountedFunction looping() {
  auto function = counted("loop", "/src/loop.c", 1, {10, 100, 10});
  const auto add = [&](uint32_t from, uint32_t to, uint64_t count) {
    function.graph.edges.push_back({.from = from, .to = to, .kind = abi::EdgeKind::Branch});
    function.counts.edges.push_back({CountState::Measured, count});
  };
  add(2, 2, 85);
  add(2, 1, 5);
  return function;
}

std::vector<std::string> textsOf(const ProfiledFunction &function) {
  std::vector<std::string> texts;
  for (const auto &line : function.lines)
    texts.push_back(line.text);
  return texts;
}

// LNT's page draws a graph from these instructions. Each `jmp` goes to the address of a basic block. Before each `jmp`
// of a basic block except its last one, there is a conditional jump that skips it.
TEST(GraphsProfile, LinesAreBlocksAndJumps) {
  const auto profile = profileOf(std::vector{looping()});
  const ProfiledFunction &function = profile.functions.at("loop()");
  EXPECT_THAT(textsOf(function),
              ElementsAre("block 1 loop.c:10, 2 instructions", "jmp 2 # edge1_2", "block 2 loop.c:11, 2 instructions",
                          "jne 5", "jmp 8 # edge2_3", "jne 7", "jmp 2 # edge2_2", "jmp 0 # edge2_1",
                          "block 3 loop.c:12, 2 instructions", "retq"));
  for (size_t i = 0; i < function.lines.size(); ++i)
    EXPECT_EQ(function.lines[i].address, i);
}

TEST(GraphsProfile, SharesAreOfTheFunctionAndOfTheWhole) {
  const auto profile = profileOf(std::vector{looping(), counted("once", "/src/once.c", 2, {40})});
  EXPECT_THAT(profile.counters,
              ElementsAre(Pair("block-visits", 160), Pair("edge-count", 200), Pair("instructions", 320)));
  EXPECT_THAT(profile.functions.at("loop()").counters,
              ElementsAre(Pair("block-visits", 75), Pair("edge-count", 100), Pair("instructions", 75)));
  const auto &lines = profile.functions.at("loop()").lines;
  EXPECT_NEAR(lines[2].shares[0], 100 * 100 / 120.0, 1e-9);
  EXPECT_NEAR(lines[6].shares[1], 42.5, 1e-9);
  EXPECT_EQ(lines[3].shares, (std::vector<double>{0, 0, 0}));
}

TEST(GraphsProfile, WhatDidNotRunIsLeftOutAndNamesAreTold) {
  const auto profile = profileOf(
      std::vector{counted("f", "/a.c", 1, {1}), counted("f", "/b.c", 2, {3}), counted("never", "/a.c", 3, {0})});
  EXPECT_EQ(profile.functions.size(), 2u);
  EXPECT_TRUE(profile.functions.contains("f()"));
  EXPECT_TRUE(profile.functions.contains("f() (/b.c)"));
}

TEST(GraphsProfile, LntTakesIt) {
  auto function = looping();
  function.name = "operator\n()";
  function.counts.edges[1] = {}; // its count is unknown
  EXPECT_TRUE(checkProfile(profileOf(std::vector{function})));
  EXPECT_TRUE(writeLnt(profileOf(std::vector{function})));
  EXPECT_TRUE(writeLnt(profileOf({})));
}

} // namespace
} // namespace msleaks::analysis
