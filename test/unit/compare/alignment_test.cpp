// alignment_test.cpp: tests the alignment of two sequences, also against a table of all common subsequences.
#include "analysis/compare/alignment.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace msleaks::analysis::compare {
namespace {

using NameList = std::vector<uint32_t>;

// Returns the length of the longest common subsequence.
size_t longestByTable(const NameList &first, const NameList &second) {
  std::vector<std::vector<size_t>> table(first.size() + 1, std::vector<size_t>(second.size() + 1));
  for (size_t i = 1; i <= first.size(); ++i)
    for (size_t j = 1; j <= second.size(); ++j)
      table[i][j] =
          first[i - 1] == second[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
  return table.back().back();
}

void expectCorrect(const Alignment &alignment, const NameList &first, const NameList &second) {
  size_t x = 0, y = 0;
  bool is_first = true;
  for (const EqualRun &run : alignment.equal) {
    ASSERT_GT(run.count, 0u);
    ASSERT_TRUE(run.first >= x && run.second >= y);
    ASSERT_TRUE(is_first || run.first > x || run.second > y) << "two runs touch";
    ASSERT_TRUE(run.first + run.count <= first.size() && run.second + run.count <= second.size());
    for (size_t i = 0; i < run.count; ++i)
      ASSERT_EQ(first[run.first + i], second[run.second + i]);
    x = run.first + run.count;
    y = run.second + run.count;
    is_first = false;
  }
}

NameList randomNames(std::mt19937 &random, size_t most, uint32_t names) {
  NameList sequence(random() % (most + 1));
  for (uint32_t &name : sequence)
    name = random() % names;
  return sequence;
}

// Makes `edits` random edits. Each edit replaces, removes or inserts one element.
NameList edited(NameList sequence, size_t edits, std::mt19937 &random, uint32_t names) {
  for (size_t i = 0; i < edits; ++i) {
    const auto at = sequence.begin() + static_cast<ptrdiff_t>(random() % sequence.size());
    if (i % 3 == 0)
      *at = random() % names;
    else if (i % 3 == 1)
      sequence.erase(at);
    else
      sequence.insert(at, random() % names);
  }
  return sequence;
}

TEST(Alignment, IsALongestCommonSubsequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const uint32_t names = 1 + random() % 6;
    const NameList first = randomNames(random, 14, names), second = randomNames(random, 14, names);
    const Alignment alignment = align(first, second);
    expectCorrect(alignment, first, second);
    ASSERT_FALSE(alignment.coarse);
    ASSERT_EQ(alignment.equalCount(), longestByTable(first, second)) << "round " << round;
  }
}

TEST(Alignment, OfLongerSequencesToo) {
  std::mt19937 random(8);
  for (int round = 0; round < 60; ++round) {
    const NameList first = randomNames(random, 400, 3), second = randomNames(random, 400, 3);
    const Alignment alignment = align(first, second);
    expectCorrect(alignment, first, second);
    ASSERT_EQ(alignment.equalCount(), longestByTable(first, second)) << "round " << round;
  }
}

TEST(Alignment, OfEmptyEqualAndDisjointSequences) {
  const NameList none, some{1, 2, 3, 2, 1}, others{4, 5, 6, 7};
  EXPECT_TRUE(align(none, none).equal.empty());
  EXPECT_TRUE(align(none, some).equal.empty());
  EXPECT_TRUE(align(some, none).equal.empty());
  EXPECT_TRUE(align(some, others).equal.empty());
  EXPECT_EQ(align(some, some).equal, (std::vector<EqualRun>{{0, 0, 5}}));
}

TEST(Alignment, KeepsWhatBothBeginAndEndWith) {
  const NameList six(6, 9), five(5, 9);
  EXPECT_EQ(align(six, five).equal, (std::vector<EqualRun>{{0, 0, 5}}));
  EXPECT_EQ(align(NameList{1, 2, 3, 8, 9}, NameList{1, 2, 4, 9}).equal, (std::vector<EqualRun>{{0, 0, 2}, {4, 3, 1}}));
}

TEST(Alignment, OfAMillionNamesWithAThousandEdits) {
  std::mt19937 random(9);
  NameList first(1'000'000);
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = static_cast<uint32_t>(i % 4000 < 50 ? 1000 + i % 4000 : i % 61);
  const NameList second = edited(first, 1000, random, 61);
  const Alignment alignment = align(first, second);
  expectCorrect(alignment, first, second);
  EXPECT_FALSE(alignment.coarse);
  EXPECT_GE(alignment.equalCount(), first.size() - 1000); // 667 edits replace or remove an element of `first`
}

TEST(Alignment, IsCoarseWhereAnExactSearchTakesTooMuch) {
  std::mt19937 random(10);
  NameList first(30'000), second(30'000);
  for (NameList *names : {&first, &second})
    for (uint32_t &name : *names)
      name = random() % 50;
  const Alignment alignment = align(first, second, {.most_steps = 100'000, .edits_behind = 16});
  expectCorrect(alignment, first, second);
  EXPECT_TRUE(alignment.coarse);
  EXPECT_GT(alignment.equalCount(), 2'000u); // pairs at equal positions would be only about 600
}

TEST(Alignment, NamesOfOneSideOnlyCostNothing) {
  NameList first(1'000'000), second(1'000'000);
  std::iota(first.begin(), first.end(), 0);
  std::iota(second.begin(), second.end(), 5'000'000);
  first[700'000] = second[3] = 1u << 31;
  const Alignment alignment = align(first, second, {.most_steps = 100});
  EXPECT_EQ(alignment.equal, (std::vector<EqualRun>{{700'000, 3, 1}}));
  EXPECT_FALSE(alignment.coarse);
}

TEST(Alignment, OfRandomBoundsIsCorrect) {
  std::mt19937 random(11);
  for (int round = 0; round < 3'000; ++round) {
    const NameList first = randomNames(random, 60, 4), second = randomNames(random, 60, 4);
    const AlignmentBounds bounds{.most_steps = random() % 200, .edits_behind = static_cast<int32_t>(random() % 4)};
    expectCorrect(align(first, second, bounds), first, second);
  }
}

} // namespace
} // namespace msleaks::analysis::compare
