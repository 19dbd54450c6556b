// Tests the parts of a block's life in the memory history, such as unused or in use. A model that stores each life as a
// whole computes the expected results.
#include "analysis/live/memory_history.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace msleaks::analysis {
namespace {

constexpr uint32_t kCohorts = 8;
// Each row is a question: what is the highest sum of the blocks that are in one of these parts of their lives?
constexpr LifeParts kQuestions[] = {{LifePart::InUse},
                                    {LifePart::NotUsed, LifePart::InUse},
                                    {LifePart::InUse, LifePart::Late, LifePart::Kept},
                                    {LifePart::InUse, LifePart::Late, LifePart::Unused},
                                    LifeParts::all()};

CohortSet only(std::initializer_list<uint32_t> cohorts) {
  CohortSet set(kCohorts);
  for (const uint32_t cohort : cohorts)
    set[cohort] = true;
  return set;
}

int64_t highest(const std::vector<int64_t> &curve) { return *std::max_element(curve.begin(), curve.end()); }

// Creates blocks of a device. Reports their events to the tested history, and stores their whole lives for the model.
class Lives {
public:
  explicit Lives(size_t most_changes = 1 << 17) : history(most_changes) {}

  uint32_t alloc(uint32_t cohort, uint64_t bytes, AllocCause cause = AllocCause::Allocated) {
    const uint32_t id = free_ids_.empty() ? static_cast<uint32_t>(blocks_.size()) + 1 : free_ids_.back();
    if (!free_ids_.empty())
      free_ids_.pop_back();
    Block &block = blocks_[id];
    block = {};
    block.size = bytes;
    block.time_ns = ++now_;
    block.cohort = {cohort};
    block.id = {id};
    block.heap = abi::Heap::Device;
    open_[id] = lives_.size();
    const bool was_there = cause == AllocCause::WasThere;
    lives_.push_back({cohort, bytes, now_, was_there ? now_ : 0, 0, 0, LifePart::Late});
    history.onAlloc(block, cause, now_);
    return id;
  }
  void use(uint32_t id) {
    Life &life = lives_[open_.at(id)];
    life.last = ++now_;
    life.first = life.first == 0 ? now_ : life.first;
    Use use;
    use.time_ns = now_;
    history.onUse(blocks_[id], use);
  }
  void free(uint32_t id, FreeCause cause = FreeCause::Freed) {
    Life &life = lives_[open_.at(id)];
    life.end = ++now_;
    life.last_part = isEnd(cause) ? LifePart::Kept : LifePart::Late;
    history.onFree(blocks_[id], cause, now_);
    open_.erase(id);
    free_ids_.push_back(id);
  }
  void retarget(uint32_t id, uint32_t cohort) {
    const Block before = blocks_[id];
    blocks_[id].cohort = {cohort};
    lives_[open_.at(id)].cohort = cohort;
    history.onRetarget(blocks_[id], before, ++now_);
  }
  void endAll() {
    while (!open_.empty())
      free(open_.begin()->first, FreeCause::ProcessExited);
  }
  std::vector<uint32_t> live() const {
    std::vector<uint32_t> ids;
    for (const auto &[id, life] : open_)
      ids.push_back(id);
    return ids;
  }

  // Returns the highest sum of the bytes of the blocks in `set`. A block counts only during these parts of its life.
  int64_t peakOf(const CohortSet &set, LifeParts parts) const {
    std::vector<int64_t> change(now_ + 2);
    const auto add = [&](const Life &life, LifePart part, uint64_t from, uint64_t to) {
      if (!set[life.cohort] || !parts.has(part) || from >= to)
        return;
      change[from] += static_cast<int64_t>(life.bytes);
      change[to] -= static_cast<int64_t>(life.bytes);
    };
    for (const Life &life : lives_) {
      if (life.first == 0) {
        add(life, LifePart::Unused, life.birth, life.end);
        continue;
      }
      add(life, LifePart::NotUsed, life.birth, life.first);
      const uint64_t idle = life.last == 0 ? life.end : life.last + 1;
      add(life, LifePart::InUse, life.first, idle);
      add(life, life.last_part, idle, life.end);
    }
    int64_t now = 0, peak = 0;
    for (const int64_t by : change)
      peak = std::max(peak, now += by);
    return peak;
  }

  MemoryHistory history;

private:
  struct Life {
    uint32_t cohort;
    uint64_t bytes, birth, first, last, end;
    LifePart last_part;
  };
  std::map<uint32_t, Block> blocks_;
  std::map<uint32_t, size_t> open_; // the live blocks
  std::vector<uint32_t> free_ids_;
  std::vector<Life> lives_;
  uint64_t now_ = 0;
};

} // namespace

TEST(LifeParts, TheFloorCountsBlocksFromFirstToLastUse) {
  Lives lives;
  const uint32_t early = lives.alloc(1, 100), raw = lives.alloc(2, 40), input = lives.alloc(3, 30);
  lives.use(raw);
  lives.use(input); // 170 bytes allocated; 30 in use, because the only use of `raw` is over
  const uint32_t other = lives.alloc(4, 5);
  lives.use(other);
  lives.use(early); // 130 bytes in use: input and early
  lives.use(input);
  for (const uint32_t id : {early, input, other, raw})
    lives.free(id);
  const CohortSet all = only({1, 2, 3, 4});
  EXPECT_EQ(highest(lives.history.curveOf(all)), 175);
  EXPECT_EQ(highest(lives.history.curveOf(all, {LifePart::InUse})), 130) << "input and early; other's use was over";
  EXPECT_EQ(highest(lives.history.curveOf(all, {LifePart::NotUsed, LifePart::InUse})), 170);
  EXPECT_EQ(highest(lives.history.curveOf(only({1}), {LifePart::NotUsed})), 100);
  EXPECT_EQ(highest(lives.history.curveOf(only({2}), {LifePart::Late})), 40);
  EXPECT_EQ(highest(lives.history.curveOf(only({2}), {LifePart::Kept})), 0);
}

TEST(LifeParts, WhatIsNeverFreedIsNotLate) {
  Lives lives;
  lives.use(lives.alloc(1, 10));
  lives.alloc(2, 20); // this block is never used
  lives.endAll();
  const auto peakOf = [&](uint32_t cohort, LifePart part) {
    return highest(lives.history.curveOf(only({cohort}), {part}));
  };
  EXPECT_EQ(peakOf(1, LifePart::Kept), 10);
  EXPECT_EQ(peakOf(1, LifePart::Late), 0);
  EXPECT_EQ(peakOf(2, LifePart::Unused), 20);
  EXPECT_EQ(peakOf(2, LifePart::NotUsed), 0);
}

TEST(LifeParts, WhatWasThereBeforeTheWindowIsInUseFromItsBeginning) {
  Lives lives;
  const uint32_t used = lives.alloc(1, 10, AllocCause::WasThere), other = lives.alloc(2, 20, AllocCause::WasThere);
  lives.use(used);
  lives.alloc(3, 1);
  lives.free(used);
  lives.free(other); // it is unknown whether the block was used before the window
  const auto peakOf = [&](uint32_t cohort, LifePart part) {
    return highest(lives.history.curveOf(only({cohort}), {part}));
  };
  EXPECT_EQ(peakOf(1, LifePart::Late), 10);
  EXPECT_EQ(peakOf(2, LifePart::InUse), 20);
  EXPECT_EQ(peakOf(2, LifePart::Late), 0);
  EXPECT_EQ(peakOf(2, LifePart::Unused), 0);
}

TEST(LifeParts, HostMemoryHasNone) {
  MemoryHistory history;
  Block block;
  block.size = 7;
  block.cohort = {1};
  block.id = {1};
  history.onAlloc(block, AllocCause::Allocated, 1);
  history.onFree(block, FreeCause::Freed, 2);
  EXPECT_EQ(highest(history.curveOf(only({1}), {LifePart::NotUsed})), 7);
}

namespace {

// Allocates, uses and frees blocks at random. If `retargets` is not 0, about one of `retargets` steps assigns a block
// to another site.
void liveAtRandom(Lives &lives, std::mt19937_64 &random, int steps, unsigned retargets) {
  for (int step = 0; step < steps; ++step) {
    const std::vector<uint32_t> live = lives.live();
    const uint64_t dice = random() % 100;
    const auto any = [&] { return live[random() % live.size()]; };
    if (live.size() < 3 || dice < (step / 500 % 2 ? 22u : 28u))
      lives.alloc(static_cast<uint32_t>(1 + random() % (kCohorts - 1)),
                  1 + random() % (random() % 20 == 0 ? 100'000 : 300),
                  random() % 10 == 0 ? AllocCause::WasThere : AllocCause::Allocated);
    else if (retargets != 0 && random() % retargets == 0)
      lives.retarget(any(), static_cast<uint32_t>(1 + random() % (kCohorts - 1)));
    else if (dice < 75)
      lives.use(any());
    else
      lives.free(any());
  }
  lives.endAll();
}

void compareParts(const Lives &lives, std::mt19937_64 &random, int64_t error_bytes) {
  for (int i = 0; i < 60; ++i) {
    CohortSet set(kCohorts);
    for (size_t cohort = 1; cohort < set.size(); ++cohort)
      set[cohort] = i == 0 || random() % 3 != 0;
    const LifeParts parts = kQuestions[random() % std::size(kQuestions)];
    const int64_t exact = lives.peakOf(set, parts), found = highest(lives.history.curveOf(set, parts));
    ASSERT_LE(found, exact) << i;
    ASSERT_GE(found + error_bytes, exact) << i;
  }
}

} // namespace

TEST(LifePartsModel, AreExactWhileThereIsRoom) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    std::mt19937_64 random(seed);
    Lives lives;
    liveAtRandom(lives, random, 4000, 30);
    EXPECT_EQ(lives.history.error(), 0u);
    compareParts(lives, random, 0);
  }
}

TEST(LifePartsModel, AreNotMissedByMoreThanIsSaid) {
  for (const uint64_t seed : {5, 6, 7, 8}) {
    std::mt19937_64 random(seed);
    Lives lives(500);
    liveAtRandom(lives, random, 6000, 0);
    EXPECT_GT(lives.history.error(), 0u) << "nothing was thinned out";
    compareParts(lives, random, static_cast<int64_t>(lives.history.error()));
  }
}

// The history stores a training loop with equal steps in little space. So all answers stay exact.
TEST(LifeParts, ALoopTakesNoRoom) {
  Lives lives(2000);
  const uint32_t weights = lives.alloc(1, 1000);
  for (int step = 0; step < 3000; ++step) {
    const uint32_t batch = lives.alloc(2, 500), error = lives.alloc(3, 300);
    lives.use(batch);
    lives.use(weights);
    lives.use(error);
    lives.use(weights);
    lives.free(batch);
    lives.free(error);
  }
  lives.endAll();
  const CohortSet all = only({1, 2, 3});
  EXPECT_LE(lives.history.maxima(), 2000u);
  EXPECT_NEAR(static_cast<double>(highest(lives.history.curveOf(all, {LifePart::InUse}))),
              static_cast<double>(lives.peakOf(all, {LifePart::InUse})), static_cast<double>(lives.history.error()));
}

} // namespace msleaks::analysis
