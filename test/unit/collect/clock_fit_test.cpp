#include "analysis/collect/clock_fit.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace msleaks::test {
namespace {

using analysis::chooseClock;
using analysis::ClockLine;
using analysis::ClockModel;
using analysis::ClockPair;
using analysis::lineThrough;
using analysis::loadFit;
using analysis::publishFit;
using analysis::readClockPair;
using analysis::readMonotonicNs;

// A counter of ticks. The test sets `ns_per_tick` to let the counter drift against the real clock.
struct FakeCounter {
  double ns_per_tick = 0.4;
  uint64_t start_ns = readMonotonicNs();
  ClockPair read() const {
    const uint64_t now = readMonotonicNs();
    return {1'000'000 + static_cast<uint64_t>(static_cast<double>(now - start_ns) / ns_per_tick), now};
  }
};

TEST(ClockLine, GoesThroughBothPairs) {
  const ClockLine line = lineThrough({1000, 5000}, {3500, 6000});
  EXPECT_EQ(line.at(1000), 5000u);
  EXPECT_NEAR(static_cast<double>(line.at(3500)), 6000, 1);
  EXPECT_NEAR(static_cast<double>(line.at(500)), 4800, 1); // the line also converts times before both pairs
}

TEST(ClockLine, StopsAtZeroBelowTheBeginningOfTime) { EXPECT_EQ((ClockLine{1000, 10}).at(0), 0u); }

TEST(ClockLine, IsExactFarFromItsOrigin) {
  const ClockLine line{0, 0, static_cast<uint64_t>(0.4 * 4294967296.0)};
  const uint64_t day = 86400ull * 2'500'000'000ull;
  EXPECT_NEAR(static_cast<double>(line.at(day)) / 86400e9, 1.0, 1e-8);
}

TEST(ClockModel, FollowsTheClockAndNeverGoesBack) {
  FakeCounter counter;
  ClockModel model([&counter] { return counter.read(); });
  uint64_t last = 0, lines = 1;
  const uint64_t until = readMonotonicNs() + 400'000'000;
  while (readMonotonicNs() < until) {
    lines += model.refit();
    const ClockPair now = counter.read();
    const uint64_t ns = model.toNs(now.ticks);
    EXPECT_GE(ns, last);
    last = ns;
    EXPECT_LT(std::abs(static_cast<double>(ns) - static_cast<double>(now.ns)), 200'000);
  }
  EXPECT_GE(lines, 4u); // the first line, and lines after 1, 10 and 100 ms
  const ClockPair now = counter.read();
  EXPECT_LT(std::abs(static_cast<double>(model.toNs(now.ticks)) - static_cast<double>(now.ns)), 20'000);
}

TEST(ClockModel, SaysOfAnOldTickWhatItSaidBefore) {
  FakeCounter counter;
  ClockModel model([&counter] { return counter.read(); });
  std::vector<ClockPair> said;
  for (int lines = 0; lines < 3; lines += model.refit()) {
    const ClockPair now = counter.read();
    said.push_back({now.ticks, model.toNs(now.ticks)});
  }
  for (const ClockPair &pair : said)
    ASSERT_EQ(model.toNs(pair.ticks), pair.ns);
  EXPECT_LT(model.toNs(said.front().ticks - 1'000'000), said.front().ns); // a tick before the first line
}

TEST(ClockModel, IsContinuousWhereLinesMeet) {
  FakeCounter counter;
  ClockModel model([&counter] { return counter.read(); });
  for (int i = 0; i < 3;)
    i += model.refit();
  const uint64_t meet = model.line().ticks;
  EXPECT_LE(model.toNs(meet - 1), model.toNs(meet));
  EXPECT_LE(model.toNs(meet) - model.toNs(meet - 10), 10u);
}

// A counter for a system that slept: while CLOCK_MONOTONIC stood still, the counter advanced by `slept_ticks`.
struct SleepingCounter {
  FakeCounter awake;
  int64_t slept_ticks = 0;
  ClockPair read() const {
    ClockPair pair = awake.read();
    pair.ticks += 2'000'000'000'000 + static_cast<uint64_t>(slept_ticks);
    return pair;
  }
};

void followsAJump(int64_t ticks) {
  SleepingCounter counter;
  ClockModel model([&counter] { return counter.read(); });
  while (!model.refit())
    ;
  const ClockPair before = counter.read();
  const uint64_t said_before = model.toNs(before.ticks);
  counter.slept_ticks = ticks;
  const ClockPair woken = counter.read();
  const uint64_t until = readMonotonicNs() + 50'000'000;
  while (!model.refit() && readMonotonicNs() < until)
    ;
  const auto error = [&](const ClockPair &pair) {
    return std::abs(static_cast<double>(model.toNs(pair.ticks)) - static_cast<double>(pair.ns));
  };
  EXPECT_LT(error(counter.read()), 1'000'000) << "the time now";
  EXPECT_LT(error(woken), 6'000'000) << "what was recorded between the jump and the look";
  if (ticks > 0) {
    EXPECT_EQ(model.toNs(before.ticks), said_before);
  }
  const uint64_t rest = readMonotonicNs() + 30'000'000;
  while (readMonotonicNs() < rest)
    model.refit();
  EXPECT_LT(error(counter.read()), 1'000'000) << "the rate is not measured over the gap";
}

TEST(ClockModel, BeginsAgainAfterASuspendInWhichTheCounterRan) { followsAJump(3'600'000'000'000 / 4 * 10); }
TEST(ClockModel, BeginsAgainWhenTheCounterWasSetBack) { followsAJump(-1'999'000'000'000); }

TEST(ClockFit, IsReadAsAWholeOrNotAtAll) {
  abi::ClockFit fit{};
  EXPECT_FALSE(loadFit(fit)); // no fit has been published yet
  publishFit(fit, {1, 2, 3});
  ASSERT_TRUE(loadFit(fit));
  EXPECT_EQ(loadFit(fit)->ns_per_tick_q32, 3u);
  fit.version.fetch_add(1); // as if the publisher was killed while it wrote
  EXPECT_FALSE(loadFit(fit));

  fit.version = 0;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint64_t i = 1; !stop; ++i)
      publishFit(fit, {i, i, i});
  });
  for (int i = 0; i < 20'000; ++i)
    if (const auto line = loadFit(fit)) {
      EXPECT_EQ(line->ticks, line->ns);
      EXPECT_EQ(line->ns, line->ns_per_tick_q32);
    }
  stop = true;
  writer.join();
}

TEST(ClockPair, IsReadWithinMicroseconds) {
  const ClockPair a = readClockPair(chooseClock());
  const uint64_t now = readMonotonicNs();
  EXPECT_LE(a.ns, now);
  EXPECT_LT(now - a.ns, 50'000'000u);
}

} // namespace
} // namespace msleaks::test
