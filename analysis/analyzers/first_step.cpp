// First step: the memory is at its peak before the first step ends, and all later steps need much less
// (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/base/text.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

constexpr uint64_t kLeastLaterSteps = 3;

// The beginnings of steps in a process. If a program reports the ends of its steps, the first step ends at the first of
// these times, else at the second.
struct StepTimes {
  uint64_t begun = 0, last_number = 0;
  uint64_t first_ns = 0, second_ns = 0;

  void begin(uint64_t number, uint64_t time_ns) {
    if (begun != 0 && number == last_number)
      return; // another thread reported the same step
    last_number = number;
    ++begun;
    if (begun <= 2)
      (begun == 1 ? first_ns : second_ns) = time_ns;
  }
};

// The memory of an account until the first step ends, and the highest later memory.
struct Difference {
  uint64_t first_bytes = 0, later_bytes = 0;
  uint64_t end_ns = 0;                // of the first step
  std::vector<CohortShare> shares;    // at the peak, of cohorts that have less memory later
  std::vector<int64_t> surplus_bytes; // of these cohorts
};

struct SurplusPlace {
  Place place;
  std::vector<CohortShare> shares;
  int64_t bytes = 0;
};

class FirstStepAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "first_step"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::Step); }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onEvent(const StreamEvent &event, SiteId) override {
    const auto step = event.event.as<abi::StepEvent>();
    steps_[event.process].begin(step.number, step.header.time);
  }
  void conclude(Conclusion &) const override;

private:
  std::optional<uint64_t> endOfFirstStep(const StepTimes &, uint64_t peak_ns) const;
  std::optional<Difference> differenceOf(const Account &, const StepTimes &, Conclusion &) const;

  const Peaks *peaks_ = nullptr;
  std::map<uint32_t, StepTimes> steps_; // by process
};

// Nothing: the peak is in a later step, or there are too few of them.
std::optional<uint64_t> FirstStepAnalyzer::endOfFirstStep(const StepTimes &steps, uint64_t peak_ns) const {
  const bool is_before = peak_ns < steps.first_ns;
  if (steps.begun <= kLeastLaterSteps || peak_ns >= steps.second_ns)
    return std::nullopt;
  return is_before ? steps.first_ns : steps.second_ns;
}

// The bytes of each cohort at this local maximum.
std::vector<int64_t> bytesAt(size_t maximum, Conclusion &conclusion) {
  std::vector<int64_t> bytes(conclusion.cohorts.size());
  conclusion.history().forEachChange([&](size_t number, CohortId cohort, LifePart, int64_t change) {
    if (number <= maximum)
      bytes[cohort.index] += change;
  });
  return bytes;
}

std::optional<Difference> FirstStepAnalyzer::differenceOf(const Account &account, const StepTimes &steps,
                                                          Conclusion &conclusion) const {
  const PeakTracker &peak = peaks_->of(account);
  const auto end_ns = endOfFirstStep(steps, peak.clock().timeNs());
  if (!end_ns)
    return std::nullopt;
  Absence all{.cohorts = CohortSet(conclusion.cohorts.size())};
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index)
    if (const Cohort &cohort = conclusion.cohorts[{index}]; cohort.heap == account.heap)
      all.cohorts[index] = cohort.device == account.device;
  const Savings::Curve curve = conclusion.curveOf(all);
  const auto later = static_cast<ptrdiff_t>(conclusion.history().numberOf(*end_ns));
  if (later >= static_cast<ptrdiff_t>(curve.size()))
    return std::nullopt;
  const auto highest = std::max_element(curve.begin() + later, curve.end());
  Difference difference{peak.clock().bytes(), static_cast<uint64_t>(*highest), *end_ns, {}, {}};
  const std::vector<int64_t> later_bytes = bytesAt(static_cast<size_t>(highest - curve.begin()), conclusion);
  for (const CohortShare &share : peak.shares())
    if (const int64_t surplus = static_cast<int64_t>(share.bytes) - later_bytes[share.cohort.index]; surplus > 0) {
      difference.shares.push_back(share);
      difference.surplus_bytes.push_back(surplus);
    }
  return difference;
}

// The place in own code with the largest part of the difference.
std::optional<std::pair<Keeper, SurplusPlace>> largestPlace(const Difference &difference, Conclusion &conclusion) {
  std::map<Keeper, SurplusPlace> places;
  for (size_t i = 0; i < difference.shares.size(); ++i)
    if (const auto kept = ownKeeperOf(conclusion.cohorts[difference.shares[i].cohort], conclusion);
        kept && kept->keeper.closed_library.empty()) {
      SurplusPlace &at = places[kept->keeper];
      at.place = kept->place;
      at.shares.push_back(difference.shares[i]);
      at.bytes += difference.surplus_bytes[i];
    }
  const auto largest = std::max_element(places.begin(), places.end(),
                                        [](const auto &a, const auto &b) { return a.second.bytes < b.second.bytes; });
  if (largest == places.end())
    return std::nullopt;
  return std::pair(largest->first, std::move(largest->second));
}

Absence absenceOf(const Difference &difference) {
  Absence absence;
  for (size_t i = 0; i < difference.shares.size(); ++i)
    absence.blocks.push_back({difference.shares[i].cohort, difference.surplus_bytes[i], 0, difference.end_ns});
  return absence;
}

Draft<Finding> findingOf(const Difference &difference, const Keeper &keeper, const SurplusPlace &at,
                         Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kFirstStep, keeper, at.place, at.shares, conclusion);
  Finding &finding = draft.line;
  const auto surplus = static_cast<uint64_t>(at.bytes);
  finding.evidence = {
      {"first_bytes", difference.first_bytes}, {"later_bytes", difference.later_bytes}, {"surplus_bytes", surplus}};
  finding.advice =
      fmt::format("This line has {} more than later; no other line has a larger surplus. Make the first step as "
                  "small as the others: the same batch size, no larger warm-up, and free what only the "
                  "beginning needs.",
                  bytesText(surplus));
  return draft;
}

void FirstStepAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect || steps_.size() != 1)
    return;                        // the steps of several processes have nothing in common
  constexpr int64_t kOwnOneIn = 4; // the place must have a part of the difference that one sees
  constexpr uint64_t kPhysicalOneIn = 20;
  const uint64_t least_bytes = peaks_->physical().clock().bytes() / kPhysicalOneIn; // a small heap does not matter
  peaks_->forEachAccount([&](const Account &account, const PeakTracker &) {
    const auto difference = differenceOf(account, steps_.begin()->second, conclusion);
    if (!difference)
      return;
    const auto largest = largestPlace(*difference, conclusion);
    Absence absence = absenceOf(*difference);
    const auto whole = static_cast<int64_t>(difference->first_bytes - difference->later_bytes);
    if (largest && (!abi::isPhysical(account.heap) || whole >= static_cast<int64_t>(least_bytes)) &&
        largest->second.bytes >= whole / kOwnOneIn && conclusion.isWorthSaving(account, absence))
      conclusion.add(findingOf(*difference, largest->first, largest->second, conclusion), std::move(absence));
  });
}

} // namespace

MSL_REGISTER_ANALYZER(first_step, FirstStepAnalyzer)

} // namespace msleaks::analysis::inline analyzers
