// Tests that the most recently used keys are kept, and how many keys are kept at most.
#include "analysis/live/recent.h"

#include <cstdint>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using OfTen = Recent<uint32_t, int, 10>;

TEST(Recent, KeepsTheLastOnesAndAtMostTwiceAsMany) {
  OfTen values;
  for (uint32_t key = 0; key < 1000; ++key) {
    values[key] = static_cast<int>(key);
    EXPECT_LE(values.size(), 20u);
    for (uint32_t last = key < 9 ? 0 : key - 9; last <= key; ++last)
      EXPECT_NE(std::as_const(values).find(last), nullptr);
  }
  EXPECT_EQ(values.find(0), nullptr);
  EXPECT_EQ(values[0], 0);
}

TEST(Recent, WhatIsUsedStays) {
  OfTen values;
  values[7] = 42;
  for (uint32_t key = 100; key < 1000; ++key) {
    values[key] = 1;
    ASSERT_NE(values.find(7), nullptr);
    ASSERT_EQ(*values.find(7), 42);
  }
}

TEST(Recent, ErasesWhereverItIs) {
  OfTen values;
  for (uint32_t key = 0; key < 15; ++key)
    values[key] = 1;
  for (uint32_t key = 0; key < 15; ++key)
    values.erase(key);
  EXPECT_TRUE(values.empty());
  values[1] = 1;
  values[2] = 2;
  EXPECT_EQ(values.keys(), (std::vector<uint32_t>{1, 2}));
  values.eraseIf([](uint32_t key) { return key == 1; });
  EXPECT_EQ(values.keys(), (std::vector<uint32_t>{2}));
}

} // namespace
} // namespace msleaks::analysis
