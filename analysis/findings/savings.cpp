#include "analysis/findings/savings.h"

#include <algorithm>

namespace msleaks::analysis {
namespace {

int64_t peakOf(const std::vector<int64_t> &curve) {
  return curve.empty() ? 0 : std::max<int64_t>(*std::max_element(curve.begin(), curve.end()), 0);
}

int64_t peakOfDifference(const std::vector<int64_t> &curve, const std::vector<int64_t> &absent) {
  int64_t peak = 0;
  for (size_t i = 0; i < curve.size(); ++i)
    peak = std::max(peak, curve[i] - absent[i]);
  return peak;
}

} // namespace

template <class Counts> Savings::Memory Savings::memoryOf(Counts counts) const {
  CohortSet set(cohorts_.size());
  for (uint32_t index = 1; index < cohorts_.size(); ++index)
    set[index] = counts(cohorts_[{index}]);
  Memory memory;
  memory.all = memory.left = history_.curveOf(set);
  memory.peak_bytes = peakOf(memory.all);
  return memory;
}

Savings::Memory &Savings::of(const Account &account) {
  const auto [at, fresh] = accounts_.try_emplace(account);
  if (fresh)
    at->second =
        memoryOf([&](const Cohort &cohort) { return cohort.heap == account.heap && cohort.device == account.device; });
  return at->second;
}

Savings::Curve Savings::curveOf(const Absence &absence) const {
  Curve curve = history_.curveOf(absence.cohorts);
  const Curve blocks = history_.curveOf(absence.blocks);
  std::transform(curve.begin(), curve.end(), blocks.begin(), curve.begin(), std::plus<>());
  return curve;
}

uint64_t Savings::alone(const Account &account, const Absence &absence) {
  const Memory &memory = of(account);
  return static_cast<uint64_t>(memory.peak_bytes - peakOfDifference(memory.all, curveOf(absence)));
}

uint64_t Savings::aloneInAll(const Absence &absence) {
  if (physical_.all.empty())
    physical_ = memoryOf([](const Cohort &cohort) { return abi::isPhysical(cohort.heap); });
  return static_cast<uint64_t>(physical_.peak_bytes - peakOfDifference(physical_.all, curveOf(absence)));
}

uint64_t Savings::remove(const Account &account, const Absence &absence) {
  Memory &memory = of(account);
  const Curve absent = curveOf(absence);
  std::transform(memory.left.begin(), memory.left.end(), absent.begin(), memory.left.begin(), std::minus<>());
  return static_cast<uint64_t>(memory.peak_bytes - peakOf(memory.left));
}

} // namespace msleaks::analysis
