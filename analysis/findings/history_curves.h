// Curves of groups of cohorts at the local maxima of the memory in use (MemoryHistory), and a choice of few maxima.
#pragma once

#include "analysis/live/memory_history.h"

#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::inline findings {

class HistoryCurves {
public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // The group of each cohort, by the cohort's number; kNone = no group.
  using Groups = std::vector<uint32_t>;

  explicit HistoryCurves(const MemoryHistory &);

  const std::vector<uint64_t> &times() const { return times_; } // times of the maxima, CLOCK_MONOTONIC
  // Whether the cohort ever changes. A cohort that never changes has 0 bytes at each maximum.
  bool changes(CohortId cohort) const { return cohort.index < changes_of_.size() && changes_of_[cohort.index]; }

  struct Highest {
    int64_t bytes = 0;
    size_t at = 0; // number of the first maximum with these bytes
  };
  std::vector<Highest> highestOf(const Groups &, size_t groups) const;
  // The bytes of each group at these maxima, which must be ascending.
  std::vector<std::vector<uint64_t>> curvesOf(const Groups &, size_t groups, std::span<const size_t> maxima) const;

private:
  struct Change {
    uint32_t at; // number of the maximum
    CohortId cohort;
    int64_t bytes;
  };
  // For each maximum in order: calls onChange(cohort, bytes) for each change, and then onMaximum(number).
  template <class OnChange, class OnMaximum> void sweep(OnChange &&onChange, OnMaximum &&onMaximum) const {
    auto next = changes_.begin();
    for (size_t at = 0; at < times_.size(); ++at) {
      for (; next != changes_.end() && next->at == at; ++next)
        onChange(next->cohort, next->bytes);
      onMaximum(at);
    }
  }

  std::vector<uint64_t> times_;
  std::vector<Change> changes_;  // ascending by maximum
  std::vector<bool> changes_of_; // by cohort
};

// Chooses at most `most` values, and returns their numbers, ascending: the first, the last, and `wanted` in its order
// while there is room. Then divides the values into equal parts, and chooses the highest of each part.
std::vector<size_t> chooseMoments(std::span<const uint64_t> values, std::span<const size_t> wanted, size_t most);

} // namespace msleaks::analysis::inline findings
