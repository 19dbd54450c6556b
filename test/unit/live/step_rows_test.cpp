#include "analysis/live/step_rows.h"

#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

using Row = StepRows::Row;

void rise(StepRows &rows, uint32_t process, uint64_t bytes, uint64_t time_ns) {
  if (rows.has(process))
    rows.rise(bytes, time_ns);
}
void fall(StepRows &rows, uint32_t process, uint64_t bytes, uint64_t time_ns) {
  if (rows.has(process))
    rows.fall(bytes, time_ns);
}
void launch(StepRows &rows, uint32_t process, uint64_t time_ns) {
  if (rows.has(process))
    rows.launch(time_ns);
}

} // namespace

TEST(StepRows, HaveThePeakAndTheEndOfEachStep) {
  StepRows rows;
  EXPECT_FALSE(rows.has(1));
  rise(rows, 1, 1000, 5); // ignored, since no step has begun: begin() gets the bytes
  rows.begin(1, 7, 10, 1000);
  rise(rows, 1, 50, 11);
  launch(rows, 1, 12);
  fall(rows, 1, 40, 13);
  rows.begin(1, 7, 14, 0); // another thread reports the same step
  rows.begin(1, 8, 20, 0);
  launch(rows, 1, 21);
  launch(rows, 1, 22);
  fall(rows, 1, 10, 25);
  EXPECT_EQ(rows.rows().list,
            (std::vector<Row>{{1, 7, 7, 1, 10, 20, 1050, 1010, 1}, {1, 8, 8, 1, 20, 25, 1010, 1000, 2}}));
  rows.end(1, 30);
  EXPECT_FALSE(rows.has(1));
  EXPECT_EQ(rows.rows().list.back(), (Row{1, 8, 8, 1, 20, 30, 1010, 1000, 2}));
}

TEST(StepRows, AreThoseOfEachProcess) {
  StepRows rows;
  rows.begin(1, 1, 10, 100);
  rows.begin(2, 1, 20, 7);
  EXPECT_FALSE(rows.has(3));
  rise(rows, 1, 5, 30);
  rise(rows, 3, 1000, 31);
  rise(rows, 2, 1, 32);
  launch(rows, 2, 33);
  rows.end(2, 40);
  rise(rows, 2, 1000, 41); // after the end of process 2
  rows.end(1, 50);
  EXPECT_EQ(rows.rows().list, (std::vector<Row>{{1, 1, 1, 1, 10, 50, 105, 105, 0}, {2, 1, 1, 1, 20, 40, 8, 8, 1}}));
}

// Compares the rows of joined steps with the rows of single steps.
TEST(StepRows, NeighboursAreJoinedWhereThereAreTooMany) {
  constexpr size_t kMost = 20;
  std::mt19937 random(3);
  StepRows rows(kMost), all(100'000);
  uint64_t now[3] = {};
  uint64_t time_ns = 0, numbers[3] = {};
  for (int i = 0; i < 3000; ++i) {
    const uint32_t process = i < 1500 ? 0 : random() % 3;
    ++numbers[process];
    ++time_ns;
    const uint64_t more = random() % 100, less = random() % (now[process] + more + 1);
    for (StepRows *each : {&rows, &all}) {
      each->begin(process, numbers[process], time_ns, now[process]);
      rise(*each, process, more, time_ns);
      launch(*each, process, time_ns);
      fall(*each, process, less, time_ns);
    }
    now[process] += more - less;
  }
  for (uint32_t process = 0; process < 3; ++process) {
    rows.end(process, time_ns);
    all.end(process, time_ns);
  }
  const auto joined = rows.rows(), steps = all.rows();
  EXPECT_LE(joined.list.size(), kMost);
  EXPECT_GE(joined.list.size(), kMost / 4);
  EXPECT_EQ(joined.left_out_steps, 0u);
  EXPECT_EQ(steps.list.size(), 3000u);
  uint64_t next[3] = {1, 1, 1};
  for (const Row &row : joined.list) {
    EXPECT_EQ(row.first, next[row.process]) << "a step is in no row, or in two";
    next[row.process] = row.last + 1;
    Row expected{row.process, row.first, row.last};
    for (const Row &step : steps.list) {
      if (step.process != row.process || step.first < row.first || step.first > row.last)
        continue;
      ++expected.steps;
      if (step.first == row.first)
        expected.begin_ns = step.begin_ns;
      expected.peak_bytes = std::max(expected.peak_bytes, step.peak_bytes);
      expected.end_ns = step.end_ns;
      expected.end_bytes = step.end_bytes;
      expected.launches += step.launches;
    }
    EXPECT_EQ(row, expected);
  }
  for (uint32_t process = 0; process < 3; ++process)
    EXPECT_EQ(next[process], numbers[process] + 1);
}

TEST(StepRows, OfTooManyProcessesThoseWithTheHighestPeaksStay) {
  StepRows rows(20);
  for (uint32_t process = 1; process <= 1000; ++process) {
    rows.begin(process, 1, process, process == 17 ? 1'000'000 : process);
    rows.end(process, process);
  }
  const auto left = rows.rows();
  EXPECT_LE(left.list.size(), 20u);
  EXPECT_EQ(left.list.size() + left.left_out_steps, 1000u);
  EXPECT_EQ(left.list.front().process, 17u);
  EXPECT_EQ(left.list.back().process, 1000u);
}

} // namespace msleaks::analysis
