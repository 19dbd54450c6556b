#include "analysis/findings/savings.h"

#include "analysis/base/element_at.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace msleaks::analysis {
namespace {

int64_t highestOf(const std::vector<int64_t> &curve) {
  return curve.empty() ? 0 : std::max<int64_t>(*std::max_element(curve.begin(), curve.end()), 0);
}

int64_t peakOfDifference(const std::vector<int64_t> &curve, const std::vector<int64_t> &absent) {
  int64_t peak = 0;
  for (size_t i = 0; i < curve.size(); ++i)
    peak = std::max(peak, curve[i] - absent[i]);
  return peak;
}

// It may rise: a block that takes another one's memory keeps that alive.
uint64_t fallOf(int64_t peak, int64_t left) { return static_cast<uint64_t>(std::max<int64_t>(peak - left, 0)); }

std::set<CohortId> cohortsIn(const Absence &absence) {
  std::set<CohortId> cohorts;
  for (uint32_t index = 0; index < absence.cohorts.size(); ++index)
    if (absence.cohorts[index])
      cohorts.insert({index});
  for (const Added &block : absence.blocks)
    cohorts.insert(block.cohort);
  return cohorts;
}

CohortSet setOf(CohortId cohort) {
  CohortSet set(cohort.index + 1);
  set[cohort.index] = true;
  return set;
}

} // namespace

template <class Counts> Savings::Memory Savings::memoryOf(Counts counts) const {
  CohortSet set(cohorts_.size());
  for (uint32_t index = 1; index < cohorts_.size(); ++index)
    set[index] = counts(cohorts_[{index}]);
  Memory memory;
  memory.all = memory.left = history_.curveOf(set);
  memory.peak_bytes = highestOf(memory.all);
  return memory;
}

Savings::Memory &Savings::of(const Account &account) {
  const auto [at, fresh] = accounts_.try_emplace(account);
  if (fresh)
    at->second =
        memoryOf([&](const Cohort &cohort) { return cohort.heap == account.heap && cohort.device == account.device; });
  return at->second;
}

const Savings::Memory &Savings::physical() {
  if (physical_.all.empty())
    physical_ = memoryOf([](const Cohort &cohort) { return abi::isPhysical(cohort.heap); });
  return physical_;
}

Savings::Curve Savings::curveOf(const Absence &absence) const {
  Curve curve = history_.curveOf(absence.blocks);
  if (absence.cohorts.empty())
    return curve;
  const Curve cohorts = history_.curveOf(absence.cohorts, absence.parts);
  std::transform(curve.begin(), curve.end(), cohorts.begin(), curve.begin(), std::plus<>());
  return curve;
}

Savings::Saving Savings::alone(const Account &account, const Absence &absence) {
  const Curve absent = curveOf(absence);
  const auto without = [&](const Memory &memory) {
    return fallOf(memory.peak_bytes, peakOfDifference(memory.all, absent));
  };
  return {without(of(account)), abi::isPhysical(account.heap) ? without(physical()) : 0};
}

void Savings::expect(const Absence &absence) {
  for (const CohortId cohort : cohortsIn(absence))
    ++elementAt(expected_, cohort.index);
}

// What of it is this cohort's.
Savings::Curve Savings::partOf(const Absence &absence, CohortId cohort) const {
  Absence part{.parts = absence.parts};
  if (cohort.index < absence.cohorts.size() && absence.cohorts[cohort.index])
    part.cohorts = setOf(cohort);
  std::copy_if(absence.blocks.begin(), absence.blocks.end(), std::back_inserter(part.blocks),
               [&](const Added &block) { return block.cohort == cohort; });
  return curveOf(part);
}

// Its curve, of each cohort no more than those before have left. Which blocks two absences share is not known: they are
// taken to share none as long as the cohort has enough.
Savings::Curve Savings::removeOnce(const Absence &absence) {
  Curve absent = curveOf(absence);
  for (const CohortId cohort : cohortsIn(absence)) {
    if (valueAt(expected_, cohort.index) < 2)
      continue;
    const auto [at, fresh] = removed_.try_emplace(cohort, Curve(absent.size()));
    Curve &removed = at->second;
    const Curve wanted = partOf(absence, cohort);
    const Curve all = history_.curveOf(setOf(cohort));
    for (size_t i = 0; i < absent.size(); ++i) {
      const int64_t taken = std::min(wanted[i], std::max<int64_t>(all[i] - removed[i], 0));
      removed[i] += taken;
      absent[i] -= wanted[i] - taken;
    }
  }
  return absent;
}

uint64_t Savings::remove(const Account &account, const Absence &absence) {
  Memory &memory = of(account);
  const Curve absent = removeOnce(absence);
  std::transform(memory.left.begin(), memory.left.end(), absent.begin(), memory.left.begin(), std::minus<>());
  return fallOf(memory.peak_bytes, highestOf(memory.left));
}

} // namespace msleaks::analysis
