// Tests the findings about programs whose first step decides the peak.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kStepTick = 100, kStepPart = 1'000'000;

// Every step begins with a mark. Then it allocates a block at line 12 and one at line 3, and frees both.
class FirstStep : public ReportTest {
protected:
  void step(uint64_t number, uint64_t parts_of_one, uint64_t parts_of_two = 1) {
    now_ += kStepTick;
    list_.push_back(test::make<abi::StepEvent>(now_, {}, number, 0));
    blocks(parts_of_one, parts_of_two);
  }
  void blocks(uint64_t parts_of_one, uint64_t parts_of_two = 1) {
    list_.push_back(test::alloc(now_ + 1, 1 << 24, parts_of_one * kStepPart, kOne));
    list_.push_back(test::alloc(now_ + 2, 2 << 24, parts_of_two * kStepPart, kTwo));
    list_.push_back(test::free(now_ + 3, 1 << 24, kOne));
    list_.push_back(test::free(now_ + 4, 2 << 24, kTwo));
  }
  json finding() { return findingOf(reportOf(list_), "first-step"); }

  uint64_t now_ = kStart;
  std::vector<StreamEvent> list_;
};

} // namespace

TEST_F(FirstStep, NamesTheLargestPartOfTheDifference) {
  step(0, 6, 2);
  for (uint64_t number = 1; number <= 3; ++number)
    step(number, 2);
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["site"]["line"], 12);
  EXPECT_EQ(found["confidence"], "likely");
  EXPECT_EQ(found["saves_bytes"], 5 * kStepPart);
  EXPECT_EQ(found["evidence"]["first_bytes"], 8 * kStepPart);
  EXPECT_EQ(found["evidence"]["later_bytes"], 3 * kStepPart);
  EXPECT_EQ(found["evidence"]["surplus_bytes"], 4 * kStepPart);
}

TEST_F(FirstStep, MayEndWithTheFirstReport) {
  now_ += kStepTick;
  blocks(6); // PyTorch reports the ends of steps
  for (uint64_t number = 1; number <= 4; ++number)
    step(number, 2);
  const json found = finding();
  ASSERT_FALSE(found.is_null());
  EXPECT_EQ(found["saves_bytes"], 4 * kStepPart);
}

TEST_F(FirstStep, ALaterPeakIsNone) {
  step(0, 6);
  step(1, 2);
  step(2, 7);
  step(3, 2);
  step(4, 2);
  EXPECT_TRUE(finding().is_null());
}

TEST_F(FirstStep, WhatComesAfterTheStepsCountsToo) {
  step(0, 6);
  for (uint64_t number = 1; number <= 3; ++number)
    step(number, 2);
  now_ += kStepTick;
  blocks(6);
  EXPECT_TRUE(finding().is_null()) << "a fix of the first step would save nothing";
}

TEST_F(FirstStep, ThreeLaterStepsAreNeeded) {
  step(0, 6);
  step(1, 2);
  step(2, 2);
  EXPECT_TRUE(finding().is_null());
}

TEST_F(FirstStep, ASmallDifferenceIsNone) {
  step(0, 40);
  for (uint64_t number = 1; number <= 3; ++number)
    step(number, 39);
  EXPECT_TRUE(finding().is_null());
}

TEST_F(FirstStep, ASmallHeapDoesNotMatter) {
  list_.push_back(test::alloc(now_, 3 << 24, 600 * kStepPart, {.heap = abi::Heap::Mapping, .site = 2}));
  step(0, 6, 2);
  for (uint64_t number = 1; number <= 3; ++number)
    step(number, 2);
  EXPECT_TRUE(finding().is_null());
}

} // namespace msleaks::analysis
