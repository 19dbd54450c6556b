// Tests by how much a peak falls without some blocks. The expected savings come from a simple model, which computes all
// curves again for each question.
#include "analysis/findings/savings.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace msleaks::analysis {
namespace {

using Curve = std::vector<int64_t>;

// A run with random blocks in two heaps. The blocks belong to `cohort_count` cohorts (groups of similar blocks).
struct RandomBlocks {
  explicit RandomBlocks(uint64_t seed, uint32_t cohort_count) : random(seed) {
    for (uint32_t i = 1; i <= cohort_count; ++i) {
      Cohort cohort;
      cohort.site = {i};
      cohort.heap = i % 3 == 0 ? abi::Heap::Device : abi::Heap::Host;
      cohorts.of(cohort);
    }
  }
  uint64_t pick(uint64_t below) { return random() % below; }
  void add() {
    Block block;
    block.cohort = {static_cast<uint32_t>(1 + pick(cohorts.size() - 1))};
    block.heap = cohorts[block.cohort].heap;
    block.size = 1 + pick(1000);
    block.time_ns = ++now;
    block.id = {free_ids.empty() ? ++last_id : free_ids.back()};
    if (!free_ids.empty())
      free_ids.pop_back();
    history.onAlloc(block, AllocCause::Allocated, now);
    live.push_back(block);
  }
  void remove() {
    std::swap(live[pick(live.size())], live.back());
    history.onFree(live.back(), FreeCause::Freed, ++now);
    free_ids.push_back(live.back().id.index);
    live.pop_back();
  }
  void use() {
    const Block &block = live[pick(live.size())];
    Use use;
    use.time_ns = ++now;
    if (hasUses(block.heap))
      history.onUse(block, use);
  }
  void run(size_t events) {
    for (size_t i = 0; i < events; ++i)
      if (const uint64_t what = pick(10); live.empty() || what < 5)
        add();
      else if (what < 9)
        remove();
      else
        use();
  }

  std::mt19937_64 random;
  Cohorts cohorts;
  MemoryHistory history{1 << 8};
  std::vector<Block> live;
  std::vector<uint32_t> free_ids;
  uint64_t now = 0;
  uint32_t last_id = 0;
};

// A simple model: it computes the expected savings from the curves of the whole run.
class WholeCurves {
public:
  WholeCurves(const RandomBlocks &run, const Account &account) : run_(run) {
    CohortSet set(run.cohorts.size());
    for (uint32_t index = 1; index < set.size(); ++index)
      set[index] = run.cohorts[{index}].heap == account.heap;
    all_ = left_ = run.history.curveOf(set);
  }
  uint64_t alone(const Absence &absence) const { return fall(all_, minus(all_, curveOf(absence))); }
  void expect(const Absence &absence) {
    for (const uint32_t cohort : cohortsOf(absence))
      ++expected_[cohort];
  }
  uint64_t remove(const Absence &absence) {
    Curve absent = curveOf(absence);
    for (const uint32_t cohort : cohortsOf(absence)) {
      if (expected_[cohort] < 2)
        continue;
      Absence part{.parts = absence.parts};
      if (cohort < absence.cohorts.size() && absence.cohorts[cohort])
        part.cohorts = only(cohort);
      for (const AbsentBlock &block : absence.blocks)
        if (block.cohort.index == cohort)
          part.blocks.push_back(block);
      const Curve wanted = curveOf(part), whole = run_.history.curveOf(only(cohort));
      Curve &removed = removed_.try_emplace(cohort, Curve(whole.size())).first->second;
      for (size_t i = 0; i < absent.size(); ++i) {
        const int64_t taken = std::min(wanted[i], std::max<int64_t>(whole[i] - removed[i], 0));
        removed[i] += taken;
        absent[i] -= wanted[i] - taken;
      }
    }
    left_ = minus(left_, absent);
    return fall(all_, left_);
  }

private:
  static int64_t highest(const Curve &curve) {
    return std::max<int64_t>(*std::max_element(curve.begin(), curve.end()), 0);
  }
  static uint64_t fall(const Curve &all, const Curve &left) {
    return static_cast<uint64_t>(std::max<int64_t>(highest(all) - highest(left), 0));
  }
  static Curve minus(Curve from, const Curve &curve) {
    std::transform(from.begin(), from.end(), curve.begin(), from.begin(), std::minus<>());
    return from;
  }
  static CohortSet only(uint32_t cohort) {
    CohortSet set(cohort + 1);
    set[cohort] = true;
    return set;
  }
  static std::set<uint32_t> cohortsOf(const Absence &absence) {
    std::set<uint32_t> list;
    for (uint32_t index = 0; index < absence.cohorts.size(); ++index)
      if (absence.cohorts[index])
        list.insert(index);
    for (const AbsentBlock &block : absence.blocks)
      list.insert(block.cohort.index);
    return list;
  }
  Curve curveOf(const Absence &absence) const {
    Curve curve = run_.history.curveOf(absence.cohorts, absence.parts);
    for (const AbsentBlock &block : absence.blocks)
      for (auto [at, to] = run_.history.maximaWithout(block); at < to; ++at)
        curve[at] += block.bytes;
    return curve;
  }

  const RandomBlocks &run_;
  Curve all_, left_;
  std::map<uint32_t, uint32_t> expected_;
  std::map<uint32_t, Curve> removed_;
};

Absence randomAbsence(RandomBlocks &run, abi::Heap heap) {
  Absence absence;
  absence.cohorts.resize(run.cohorts.size());
  for (uint32_t index = 1; index < run.cohorts.size(); ++index)
    absence.cohorts[index] = run.cohorts[{index}].heap == heap && run.pick(4) == 0;
  if (run.pick(2) == 0)
    absence.parts = {LifePart::NotUsed, LifePart::Late, LifePart::Unused};
  for (uint32_t index = 1; index < run.cohorts.size(); ++index)
    if (run.cohorts[{index}].heap == heap && !absence.cohorts[index] && run.pick(4) == 0)
      absence.blocks.push_back({{index}, static_cast<int64_t>(run.pick(500)), run.pick(run.now), run.pick(run.now)});
  return absence;
}

} // namespace

class SavingsModel : public testing::TestWithParam<uint64_t> {};

TEST_P(SavingsModel, SaysWhatWholeCurvesSay) {
  RandomBlocks run(GetParam(), 12);
  run.run(4000);
  for (const abi::Heap heap : {abi::Heap::Host, abi::Heap::Device}) {
    Savings savings(run.history, run.cohorts);
    const Account account{heap, 0};
    WholeCurves whole(run, account);
    std::vector<Absence> absences;
    for (int i = 0; i < 20; ++i)
      absences.push_back(randomAbsence(run, heap));
    for (const Absence &absence : absences) {
      EXPECT_EQ(savings.alone(account, absence).bytes, whole.alone(absence));
      savings.expect(absence);
      whole.expect(absence);
    }
    for (const Absence &absence : absences)
      EXPECT_EQ(savings.remove(account, absence), whole.remove(absence));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SavingsModel, testing::Values(1, 2, 3));

TEST(Savings, ARunWithoutMemorySavesNothing) {
  const MemoryHistory history;
  const Cohorts cohorts;
  Savings savings(history, cohorts);
  EXPECT_EQ(savings.alone({}, {}).bytes, 0u);
  EXPECT_EQ(savings.remove({}, {}), 0u);
}

} // namespace msleaks::analysis
