#include "analysis/counts/function_pairs.h"

#include "counted.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using test::counted;

TEST(FunctionPairs, EqualSymbolAndHash) {
  const std::vector first = {counted("f", "a.c", 1, {1, 2})}, second = {counted("f", "a.c", 1, {3, 4})};
  const auto pairs = pairsOf(first, second);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].first, &first[0]);
  EXPECT_EQ(pairs[0].second, &second[0]);
  EXPECT_TRUE(pairs[0].isOneGraph());
}

TEST(FunctionPairs, OtherHashIsNoOneGraph) {
  const std::vector first = {counted("f", "a.c", 1, {1})}, second = {counted("f", "a.c", 2, {1})};
  const auto pairs = pairsOf(first, second);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_FALSE(pairs[0].isOneGraph());
}

// Two graphs with equal hashes but different numbers of basic blocks must not count as one graph.
TEST(FunctionPairs, EqualHashOfOtherSizeIsNoOneGraph) {
  const std::vector first = {counted("f", "a.c", 1, {1})}, second = {counted("f", "a.c", 1, {1, 1})};
  EXPECT_FALSE(pairsOf(first, second)[0].isOneGraph());
}

TEST(FunctionPairs, StaticFunctionsOfOneNameByTheirFiles) {
  const std::vector first = {counted("init", "a.c", 1, {1}), counted("init", "b.c", 1, {1})};
  const std::vector second = {counted("init", "b.c", 1, {1}), counted("init", "a.c", 1, {1})};
  const auto pairs = pairsOf(first, second);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].second, &second[1]);
  EXPECT_EQ(pairs[1].second, &second[0]);
}

TEST(FunctionPairs, AnotherBuildFolder) {
  const std::vector first = {counted("init", "/one/a.c", 1, {1}), counted("init", "/one/b.c", 2, {1})};
  const std::vector second = {counted("init", "/two/b.c", 3, {1}), counted("init", "/two/a.c", 1, {1})};
  const auto pairs = pairsOf(first, second);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].second, &second[1]);
  EXPECT_EQ(pairs[1].second, &second[0]);
}

TEST(FunctionPairs, OfOneRunOnly) {
  const std::vector first = {counted("f", "a.c", 1, {1})}, second = {counted("g", "a.c", 1, {1})};
  const auto pairs = pairsOf(first, second);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].second, nullptr);
  EXPECT_EQ(pairs[1].first, nullptr);
  EXPECT_FALSE(pairs[1].isOneGraph());
}

} // namespace
} // namespace msleaks::analysis
