#include "analysis/findings/history_curves.h"

#include <algorithm>
#include <set>

namespace msleaks::analysis::inline findings {

HistoryCurves::HistoryCurves(const MemoryHistory &history) : times_(history.times()) {
  times_.pop_back(); // removes `now`, which is after the ends of all processes
  history.forEachChange([&](size_t at, CohortId cohort, LifePart, int64_t bytes) {
    if (at >= times_.size())
      return;
    changes_.push_back({static_cast<uint32_t>(at), cohort, bytes});
    if (cohort.index >= changes_of_.size())
      changes_of_.resize(cohort.index + 1);
    changes_of_[cohort.index] = true;
  });
  const auto isBefore = [](const Change &a, const Change &b) { return a.at < b.at; };
  if (!std::is_sorted(changes_.begin(), changes_.end(), isBefore))
    std::stable_sort(changes_.begin(), changes_.end(), isBefore);
}

std::vector<HistoryCurves::Highest> HistoryCurves::highestOf(const Groups &group_of, size_t groups) const {
  std::vector<Highest> highest(groups);
  std::vector<int64_t> bytes(groups);
  std::vector<uint32_t> changed;
  sweep(
      [&](CohortId cohort, int64_t change) {
        if (const uint32_t group = group_of[cohort.index]; group != kNone) {
          bytes[group] += change;
          changed.push_back(group);
        }
      },
      [&](size_t at) {
        for (const uint32_t group : changed)
          if (bytes[group] > highest[group].bytes)
            highest[group] = {bytes[group], at};
        changed.clear();
      });
  return highest;
}

std::vector<std::vector<uint64_t>> HistoryCurves::curvesOf(const Groups &group_of, size_t groups,
                                                           std::span<const size_t> maxima) const {
  std::vector<std::vector<uint64_t>> curves(groups);
  std::vector<int64_t> bytes(groups);
  auto wanted = maxima.begin();
  sweep(
      [&](CohortId cohort, int64_t change) {
        if (const uint32_t group = group_of[cohort.index]; group != kNone)
          bytes[group] += change;
      },
      [&](size_t at) {
        if (wanted == maxima.end() || *wanted != at)
          return;
        ++wanted;
        for (size_t group = 0; group < groups; ++group)
          curves[group].push_back(static_cast<uint64_t>(std::max<int64_t>(bytes[group], 0)));
      });
  return curves;
}

std::vector<size_t> chooseMoments(std::span<const uint64_t> values, std::span<const size_t> wanted, size_t most) {
  std::vector<size_t> chosen;
  if (values.size() <= most) {
    for (size_t at = 0; at < values.size(); ++at)
      chosen.push_back(at);
    return chosen;
  }
  std::set<size_t> numbers{0, values.size() - 1};
  for (const size_t at : wanted)
    if (numbers.size() < most)
      numbers.insert(at);
  const size_t parts = most - numbers.size();
  for (size_t part = 0; part < parts; ++part) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(values.size() * part / parts);
    const auto end = values.begin() + static_cast<ptrdiff_t>(values.size() * (part + 1) / parts);
    numbers.insert(static_cast<size_t>(std::max_element(begin, end) - values.begin()));
  }
  return {numbers.begin(), numbers.end()};
}

} // namespace msleaks::analysis::inline findings
