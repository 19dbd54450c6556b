// What-if: the peak after the user's changes, computed from the history of the memory.
#include "analysis/result/what_if.h"
#include "analysis/analyzers/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline analyzers {
namespace {

using ChangeKind = Change::Kind;

class WhatIfAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "what_if"; }
  void conclude(Conclusion &conclusion) const override {
    if (!conclusion.question.changes.empty())
      conclusion.result.what_if = answer(conclusion);
  }

private:
  static WhatIf answer(Conclusion &);
};

LifeParts partsOf(ChangeKind kind) {
  switch (kind) {
  case ChangeKind::FreeAtLastUse:
    return {LifePart::Late, LifePart::Kept};
  case ChangeKind::AllocAtFirstUse:
    return {LifePart::NotUsed, LifePart::Unused};
  default:
    return LifeParts::all();
  }
}

// The blocks of a place. If there are none, `failure` says why.
Absence blocksOf(const std::string &site, ChangeKind kind, Conclusion &conclusion, std::string &failure) {
  Absence absence{CohortSet(conclusion.cohorts.size()), partsOf(kind)};
  const bool needs_uses = absence.parts != LifeParts::all();
  size_t found = 0, unseen = 0;
  for (uint32_t index = 1; index < conclusion.cohorts.size(); ++index) {
    const Cohort &cohort = conclusion.cohorts[{index}];
    if (!abi::isPhysical(cohort.heap) ||
        !isNamed(textOf(conclusion.catalog, conclusion.lines.places().of(cohort.site)), site))
      continue;
    ++found;
    absence.cohorts[index] = !needs_uses || conclusion.seesUses({cohort.heap, cohort.device});
    unseen += !absence.cohorts[index];
  }
  if (found == 0)
    failure =
        fmt::format("no block was allocated at '{}' (FILE:LINE, a function or a variable, as in the report)", site);
  else if (unseen == found) // memory of a library that the call uses stays
    failure = fmt::format(
        "it is not known when the blocks of '{}' are used: msleaks did not see all uses of that memory", site);
  return absence;
}

void take(std::vector<int64_t> &from, const std::vector<int64_t> &bytes) {
  std::transform(from.begin(), from.end(), bytes.begin(), from.begin(), std::minus<>());
}

// The memory that both places can share: the smaller of both at each time. The blocks must not be in use at the same
// time. If uses are not seen, they must not be alive at the same time.
std::vector<int64_t> sharedBy(const Change &change, Conclusion &conclusion, std::string &failure) {
  const Absence first = blocksOf(change.site, ChangeKind::Share, conclusion, failure);
  const Absence second = failure.empty() ? blocksOf(change.other, ChangeKind::Share, conclusion, failure) : Absence{};
  if (!failure.empty())
    return {};
  const auto used = [&](Absence blocks) {
    for (uint32_t index = 1; index < blocks.cohorts.size(); ++index) {
      const Cohort &cohort = conclusion.cohorts[{index}];
      if (blocks.cohorts[index] && !conclusion.seesUses({cohort.heap, cohort.device}))
        return conclusion.curveOf(blocks);
    }
    blocks.parts = {LifePart::InUse};
    return conclusion.curveOf(blocks);
  };
  const std::vector<int64_t> first_used = used(first), second_used = used(second);
  for (size_t i = 0; i < first_used.size(); ++i)
    if (first_used[i] > 0 && second_used[i] > 0) {
      failure = fmt::format("'{}' and '{}' cannot share their memory: both are in use at one time", change.site,
                            change.other);
      return {};
    }
  std::vector<int64_t> both = conclusion.curveOf(first);
  const std::vector<int64_t> other = conclusion.curveOf(second);
  std::transform(both.begin(), both.end(), other.begin(), both.begin(),
                 [](int64_t a, int64_t b) { return std::min(a, b); });
  return both;
}

// Splits the curves into equal parts, and returns the highest points of each part.
std::vector<WhatIf::Point> thinned(const std::vector<uint64_t> &times_ns, const std::vector<int64_t> &now,
                                   const std::vector<int64_t> &changed) {
  std::vector<WhatIf::Point> points;
  const size_t step = (now.size() + WhatIf::kMostPoints - 1) / WhatIf::kMostPoints;
  for (size_t begin = 0; begin < now.size(); begin += step) {
    const size_t end = std::min(begin + step, now.size());
    const auto highest = [&](const std::vector<int64_t> &of) {
      return static_cast<uint64_t>(std::max<int64_t>(
          *std::max_element(of.begin() + static_cast<ptrdiff_t>(begin), of.begin() + static_cast<ptrdiff_t>(end)), 0));
    };
    points.push_back({times_ns[begin], highest(now), highest(changed)});
  }
  return points;
}

WhatIf WhatIfAnalyzer::answer(Conclusion &conclusion) {
  WhatIf what_if;
  const std::vector<int64_t> now = conclusion.physicalCurve();
  std::vector<int64_t> changed = now;
  for (const Change &change : conclusion.question.changes) {
    if (change.kind == ChangeKind::Share) {
      const std::vector<int64_t> shared = sharedBy(change, conclusion, what_if.failure);
      if (what_if.failure.empty())
        take(changed, shared);
    } else {
      const Absence absence = blocksOf(change.site, change.kind, conclusion, what_if.failure);
      take(changed, conclusion.curveOf(absence));
    }
    if (!what_if.failure.empty())
      return what_if;
  }
  const auto highest = [](const std::vector<int64_t> &curve) {
    return static_cast<uint64_t>(std::max<int64_t>(*std::max_element(curve.begin(), curve.end()), 0));
  };
  what_if.peak_bytes = highest(now);
  what_if.new_peak_bytes = highest(changed);
  if (conclusion.result.floor)
    what_if.floor_bytes = conclusion.result.floor->bytes;
  what_if.curve = thinned(conclusion.timesOfCurves(), now, changed);
  return what_if;
}

} // namespace

MSL_REGISTER_ANALYZER(what_if, WhatIfAnalyzer)

} // namespace msleaks::analysis::inline analyzers
