#include "analysis/findings/savings.h"

#include "analysis/base/tables.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace msleaks::analysis::inline findings {
namespace {

// Returns 0 if the peak rises: a block that shares another one's memory keeps this memory alive.
uint64_t fallOf(int64_t peak, int64_t left) { return static_cast<uint64_t>(std::max<int64_t>(peak - left, 0)); }

std::set<CohortId> cohortsIn(const Absence &absence) {
  std::set<CohortId> cohorts;
  for (uint32_t index = 0; index < absence.cohorts.size(); ++index)
    if (absence.cohorts[index])
      cohorts.insert({index});
  for (const AbsentBlock &block : absence.blocks)
    cohorts.insert(block.cohort);
  return cohorts;
}

} // namespace

template <class Counts> Savings::Curve Savings::curveOfCohorts(Counts counts) const {
  CohortSet set(cohorts_.size());
  for (uint32_t index = 1; index < cohorts_.size(); ++index)
    set[index] = counts(cohorts_[{index}]);
  return history_.curveOf(set);
}

Savings::Memory Savings::memoryOf(const Curve &curve) {
  Memory memory;
  memory.all = memory.left = HighestCurve(curve);
  memory.peak_bytes = memory.all.highest();
  return memory;
}

Savings::Memory &Savings::of(const Account &account) {
  const auto [at, fresh] = accounts_.try_emplace(account);
  if (fresh)
    at->second = memoryOf(curveOfCohorts(
        [&](const Cohort &cohort) { return cohort.heap == account.heap && cohort.device == account.device; }));
  return at->second;
}

const Savings::Curve &Savings::physicalCurve() {
  if (physical_curve_.empty())
    physical_curve_ = curveOfCohorts([](const Cohort &cohort) { return abi::isPhysical(cohort.heap); });
  return physical_curve_;
}

const Savings::Memory &Savings::physical() {
  if (!physical_)
    physical_ = memoryOf(physicalCurve());
  return *physical_;
}

Savings::Curve Savings::curveOf(const Absence &absence) {
  Curve curve(history_.maxima() + 1); // the last value is that of now
  stepsOf(absence).forEachPart(curve.size(), [&](size_t from, size_t to, int64_t bytes) {
    std::fill(curve.begin() + static_cast<ptrdiff_t>(from), curve.begin() + static_cast<ptrdiff_t>(to), bytes);
  });
  return curve;
}

// Reads the history once. Then the cost of a finding depends only on the changes of its own cohorts.
std::span<const Savings::Change> Savings::changesOf(CohortId cohort) {
  if (begins_.empty()) {
    begins_.resize(cohorts_.size() + 1);
    history_.forEachChange([&](size_t, CohortId of, LifePart, int64_t) { ++begins_[of.index + 1]; });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    changes_.resize(begins_.back());
    std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
    history_.forEachChange(
        [&](size_t at, CohortId of, LifePart part, int64_t bytes) { changes_[next[of.index]++] = {at, part, bytes}; });
  }
  return std::span(changes_).subspan(begins_[cohort.index], begins_[cohort.index + 1] - begins_[cohort.index]);
}

void Savings::addChangesOf(CohortId cohort, LifeParts parts, Changes &to) {
  for (const Change &change : changesOf(cohort))
    if (parts.has(change.part))
      to.emplace_back(change.at, change.bytes);
}

void Savings::addChangesOf(const AbsentBlock &block, Changes &to) const {
  const auto maxima = history_.maximaWithout(block);
  to.emplace_back(maxima.from, block.bytes);
  to.emplace_back(maxima.to, -block.bytes);
}

StepCurve Savings::stepsOf(const Absence &absence) {
  Changes changes;
  for (uint32_t index = 0; index < absence.cohorts.size(); ++index)
    if (absence.cohorts[index])
      addChangesOf({index}, absence.parts, changes);
  for (const AbsentBlock &block : absence.blocks)
    addChangesOf(block, changes);
  return StepCurve(std::move(changes));
}

Savings::Saving Savings::alone(const Account &account, const Absence &absence) {
  const StepCurve absent = stepsOf(absence);
  const auto without = [&](const Memory &memory) {
    return fallOf(memory.peak_bytes, memory.all.highestWithout(absent));
  };
  return {without(of(account)), abi::isPhysical(account.heap) ? without(physical()) : 0};
}

void Savings::expect(const Absence &absence) {
  for (const CohortId cohort : cohortsIn(absence))
    ++elementAt(expected_, cohort.index);
}

// The changes of this absence for each cohort that another absence contains, too, by cohort.
std::map<CohortId, Savings::Changes> Savings::sharedParts(const Absence &absence) {
  const auto isShared = [this](CohortId cohort) { return valueAt(expected_, cohort.index) > 1; };
  std::map<CohortId, Changes> parts;
  for (uint32_t index = 0; index < absence.cohorts.size(); ++index)
    if (absence.cohorts[index] && isShared({index}))
      addChangesOf({index}, absence.parts, parts[{index}]);
  for (const AbsentBlock &block : absence.blocks)
    if (isShared(block.cohort))
      addChangesOf(block, parts[block.cohort]);
  return parts;
}

StepCurve Savings::allOf(CohortId cohort) {
  Changes changes;
  addChangesOf(cohort, LifeParts::all(), changes);
  return StepCurve(std::move(changes));
}

// Returns the absence's curve. Of each cohort, it contains at most what earlier absences have left. It is not known
// which blocks two absences share. So treats them as different blocks, as long as the cohort has enough.
StepCurve Savings::removeOnce(const Absence &absence) {
  StepCurve absent = stepsOf(absence);
  for (auto &[cohort, changes] : sharedParts(absence)) {
    StepCurve &removed = removed_[cohort];
    const StepCurve wanted(std::move(changes));
    const StepCurve taken =
        combine([](std::span<const int64_t> of) { return std::min(of[0], std::max<int64_t>(of[1] - of[2], 0)); },
                wanted, allOf(cohort), removed);
    removed = combine([](std::span<const int64_t> of) { return of[0] + of[1]; }, removed, taken);
    absent = combine([](std::span<const int64_t> of) { return of[0] - (of[1] - of[2]); }, absent, wanted, taken);
  }
  return absent;
}

uint64_t Savings::remove(const Account &account, const Absence &absence) {
  Memory &memory = of(account);
  memory.left.subtract(removeOnce(absence));
  return fallOf(memory.peak_bytes, memory.left.highest());
}

} // namespace msleaks::analysis::inline findings
