#include "analysis/findings/growing_containers.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

constexpr char kLosses[] = "python@items@losses@main@list@Tensor@/home/me/train.py";

// Counts a container as the runtime does: in the steps 2, 3, 4, 6, 8, 12, …
void grow(GrowingContainers &containers, const char *label, uint64_t steps, uint64_t items_per_step,
          uint32_t process = 1) {
  for (const uint64_t step : {2, 3, 4, 6, 8, 12, 16, 24, 32})
    if (step <= steps)
      containers.count(process, label, step * items_per_step, step);
}

std::vector<std::string> namesOf(const std::vector<GrowingContainer> &containers) {
  std::vector<std::string> names;
  for (const GrowingContainer &container : containers)
    names.push_back(container.name);
  return names;
}
using Names = std::vector<std::string>;

TEST(GrowingContainers, NameWhatGrowsInEachStep) {
  GrowingContainers containers;
  grow(containers, kLosses, 20, 1);
  const auto list = containers.of(1, 20, true);
  ASSERT_EQ(namesOf(list), (Names{"losses"}));
  EXPECT_EQ(list[0].file, "/home/me/train.py");
  EXPECT_EQ(sentenceOf(list[0]), "The list `losses` in `main` gets 1 Tensor a step");
  EXPECT_EQ(keptText(list, "these tensors"),
            "The list `losses` in `main` gets 1 Tensor a step, and probably keeps these tensors");
  EXPECT_TRUE(containers.of(2, 20, true).empty()) << "another process";
}

TEST(GrowingContainers, WhatStopsGrowingIsLeftOut) {
  GrowingContainers containers;
  grow(containers, kLosses, 8, 1);
  EXPECT_TRUE(containers.of(1, 100, true).empty());
  EXPECT_EQ(containers.of(1, 16, true).size(), 1u);
  GrowingContainers twice;
  grow(twice, kLosses, 3, 1);
  EXPECT_TRUE(twice.of(1, 3, true).empty()) << "grown two times only";
}

TEST(GrowingContainers, NumbersAndTextsKeepNoTensors) {
  GrowingContainers containers;
  grow(containers, "python@items@times@main@list@float@/t.py", 20, 9);
  grow(containers, "python@items@lines@main@list@str@/t.py", 20, 3);
  grow(containers, "python@items@self.out@step@dict@Output@/t.py", 20, 2);
  EXPECT_EQ(namesOf(containers.of(1, 20, false)), (Names{"lines", "self.out"}));
  EXPECT_EQ(namesOf(containers.of(1, 20, true)), (Names{"self.out"}));
  grow(containers, kLosses, 20, 1);
  EXPECT_EQ(namesOf(containers.of(1, 20, true)), (Names{"losses"}));
}

TEST(GrowingContainers, SeveralAreNamedTogether) {
  GrowingContainers containers;
  grow(containers, kLosses, 20, 1);
  grow(containers, "python@items@cache['x']@main@deque@Tensor@/a@b.py", 20, 4);
  EXPECT_EQ(
      keptText(containers.of(1, 20, true), "these tensors"),
      "Probably the deque `cache['x']` in `main` (4 Tensor a step) or the list `losses` in `main` (1 Tensor a step) "
      "keeps these tensors");
  EXPECT_EQ(containers.of(1, 20, true).front().file, "/a@b.py");
}

TEST(GrowingContainers, OtherCountersAreIgnored) {
  GrowingContainers containers;
  grow(containers, "driver: bytes in use", 20, 1);
  grow(containers, "python@items@", 20, 1); // damaged
  EXPECT_TRUE(containers.of(1, 20, true).empty());
}

} // namespace
} // namespace msleaks::analysis
