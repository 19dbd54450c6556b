// Tests how rounds are found in programs that do not report their steps.
#include "analysis/live/period_finder.h"

#include <bit>
#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

using Step = PeriodFinder::Step;
constexpr CohortId kBatch{1}, kNode{2}, kNote{3}, kElse{4};
constexpr uint64_t kRoundBytes = 1000, kRoundNs = 1'000'000, kStartNs = 5'000'000'000;

class PeriodFinderTest : public testing::Test {
protected:
  Step alloc(CohortId cohort, uint64_t bytes = kRoundBytes, uint32_t stream = 0) {
    const Step step = finder.onAlloc(stream, cohort, bytes, now_ns);
    begun += step == Step::Begins;
    first += step == Step::First;
    return step;
  }
  // Allocates a block and frees it at once.
  void pass(CohortId cohort, uint32_t stream = 0, uint64_t bytes = kRoundBytes) {
    alloc(cohort, bytes, stream);
    finder.onFree(bytes);
  }
  PeriodFinder finder;
  uint64_t now_ns = kStartNs;
  int begun = 0, first = 0;
};

} // namespace

TEST_F(PeriodFinderTest, ARoundBeginsWithAPlaceThatIsInEachOnce) {
  for (int round = 0; round < 30; ++round, now_ns += kRoundNs) {
    pass(kBatch);
    for (int node = 0; node < 5; ++node)
      pass(kNode);
    alloc(kNote, 8);
  }
  const auto period = finder.period();
  ASSERT_TRUE(period);
  EXPECT_EQ(period->anchor, kBatch);
  EXPECT_EQ(period->mean_ns, kRoundNs);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(period->rounds, static_cast<uint64_t>(begun));
  EXPECT_GE(begun, 20);
}

// The finder first finds the inner loop, and later the outer loop. The outer loop then replaces the inner one.
TEST_F(PeriodFinderTest, OfTwoLoopsTheOuterOneCounts) {
  for (int epoch = 0; epoch < 20; ++epoch) {
    pass(kNote);
    for (int round = 0; round < 12; ++round, now_ns += kRoundNs) {
      pass(kBatch);
      pass(kNode);
    }
  }
  const auto period = finder.period();
  ASSERT_TRUE(period);
  EXPECT_EQ(period->anchor, kNote);
  EXPECT_EQ(period->mean_ns, 12 * kRoundNs);
}

TEST_F(PeriodFinderTest, WhatNeverRepeatsIsNone) {
  std::mt19937 random(4711);
  for (int i = 0; i < 20'000; ++i, now_ns += kRoundNs)
    pass({1 + static_cast<uint32_t>(random() % 40)});
  EXPECT_FALSE(finder.period());
}

TEST_F(PeriodFinderTest, RoundsThatDifferAreNone) {
  std::mt19937 random(42);
  for (int round = 0; round < 1000; ++round, now_ns += kRoundNs) {
    pass(kBatch);
    for (uint32_t i = 0; i < random() % 9; ++i)
      pass(kNode);
  }
  EXPECT_FALSE(finder.period());
}

// The program reads a file into memory, line by line, and frees nothing. So it has no rounds.
TEST_F(PeriodFinderTest, WhoOnlyCollectsGoesThroughNoRounds) {
  for (int line = 0; line < 1000; ++line, now_ns += kRoundNs) {
    alloc(kNode);
    alloc(kNote);
  }
  EXPECT_FALSE(finder.period());
}

TEST_F(PeriodFinderTest, APeriodThatIsOverIsNone) {
  for (int round = 0; round < 100; ++round, now_ns += kRoundNs) {
    pass(kBatch);
    pass(kNode);
  }
  EXPECT_TRUE(finder.period());
  for (int i = 0; i < 9; ++i)
    pass(kNote);
  EXPECT_FALSE(finder.period());
}

// Rounds have few allocations, so the end of the program has more allocations than four rounds.
TEST_F(PeriodFinderTest, ALongLoopMayBeFollowedByTheEndOfTheProgram) {
  for (int round = 0; round < 500; ++round, now_ns += kRoundNs) {
    pass(kBatch);
    pass(kNode);
  }
  for (int i = 0; i < 38; ++i)
    pass(kNote);
  EXPECT_TRUE(finder.period());
  for (int i = 0; i < 2; ++i)
    pass(kNote);
  EXPECT_FALSE(finder.period());
}

TEST_F(PeriodFinderTest, AThreadThatWaitsGoesOnLater) {
  for (int round = 0; round < 100; ++round, now_ns += round == 50 ? 1000 * kRoundNs : kRoundNs) {
    pass(kBatch);
    pass(kNode);
  }
  ASSERT_TRUE(finder.period());
  EXPECT_EQ(finder.period()->anchor, kBatch);
  EXPECT_EQ(first, 1);
}

TEST_F(PeriodFinderTest, AnotherLoopComesBehindOneThatIsOver) {
  for (const CohortId place : {kBatch, kElse})
    for (int round = 0; round < 100; ++round, now_ns += kRoundNs) {
      pass(place);
      pass({place.index + 10});
    }
  const auto period = finder.period();
  ASSERT_TRUE(period);
  EXPECT_EQ(period->anchor, kElse);
  EXPECT_EQ(first, 2);
}

TEST_F(PeriodFinderTest, LoopsThatAllocateLittleAreNone) {
  for (int i = 0; i < 10'000; ++i, now_ns += kRoundNs) {
    pass(kNode, 0, 100);
    pass(kNote, 0, 100);
  }
  EXPECT_FALSE(finder.period());
}

// Each round takes a thousandth of the usual time, as on a machine that is a thousand times faster.
TEST_F(PeriodFinderTest, TheMachinesSpeedDoesNotMatter) {
  for (int round = 0; round < 30; ++round, now_ns += kRoundNs / 1000) {
    pass(kBatch);
    pass(kNode);
  }
  ASSERT_TRUE(finder.period());
  EXPECT_EQ(finder.period()->anchor, kBatch);
}

// A program reads a document. It allocates memory for each part, and frees all of the memory after the last part. So
// the parts are no rounds.
TEST_F(PeriodFinderTest, WhatIsFreedBehindTheRoundsIsNotFreedInThem) {
  for (int part = 0; part < 100; ++part, now_ns += kRoundNs) {
    alloc(kNode);
    alloc(kNote);
  }
  for (int part = 0; part < 100; ++part)
    finder.onFree(2 * kRoundBytes);
  EXPECT_FALSE(finder.period());
}

TEST_F(PeriodFinderTest, ABlockThatShrinksIsKept) {
  for (int part = 0; part < 100; ++part, now_ns += kRoundNs) {
    alloc(kNode, 4000);
    alloc(kNote, 100);
    finder.onRealloc(4000);
    alloc(kElse, 200);
  }
  EXPECT_FALSE(finder.period());
}

TEST_F(PeriodFinderTest, OnePlaceAloneIsNone) {
  for (int i = 0; i < 1000; ++i, now_ns += kRoundNs)
    pass(kNode);
  EXPECT_FALSE(finder.period());
}

// 20 to 40 equal pairs of small blocks follow each large block. The pairs repeat, but they are no rounds, because they
// allocate only a small part of the memory.
TEST_F(PeriodFinderTest, InnerLoopsOfRoundsThatDifferAreNone) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round, now_ns += kRoundNs) {
    pass(kBatch, 0, 1'000'000);
    for (uint32_t left = 20 + static_cast<uint32_t>(random() % 21); left > 0; --left) {
      pass(kNode);
      pass(kNote);
    }
  }
  EXPECT_FALSE(finder.period());
}

// Each round keeps something in a pool. The pool doubles its memory when it is full.
TEST_F(PeriodFinderTest, APoolMayDoubleItsMemoryInSomeRounds) {
  for (uint64_t round = 1; round <= 60; ++round, now_ns += kRoundNs) {
    pass(kBatch);
    pass(kNode);
    if (std::has_single_bit(round))
      alloc(kElse, round * kRoundBytes);
  }
  const auto period = finder.period();
  ASSERT_TRUE(period);
  EXPECT_EQ(period->anchor, kBatch);
}

TEST_F(PeriodFinderTest, OtherThreadsDoNotDisturb) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round, now_ns += kRoundNs) {
    pass(kBatch);
    for (uint32_t i = 0; i < random() % 9; ++i)
      pass({10 + static_cast<uint32_t>(random() % 30)}, 1);
    pass(kNode);
  }
  const auto period = finder.period();
  ASSERT_TRUE(period);
  EXPECT_EQ(period->anchor, kBatch);
}

} // namespace msleaks::analysis
