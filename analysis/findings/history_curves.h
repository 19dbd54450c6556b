// Curves of groups of cohorts at the local maxima of the memory in use (MemoryHistory), and the choice of few of them.
#pragma once

#include "analysis/live/memory_history.h"

#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::inline findings {

class HistoryCurves {
public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // The group of each cohort, by its number; kNone: in none.
  using Groups = std::vector<uint32_t>;

  explicit HistoryCurves(const MemoryHistory &);

  const std::vector<uint64_t> &times() const { return times_; } // of the maxima, CLOCK_MONOTONIC
  // Whether the cohort ever changes: others have nothing at any maximum.
  bool changes(CohortId cohort) const { return cohort.index < changes_of_.size() && changes_of_[cohort.index]; }

  struct Highest {
    int64_t bytes = 0;
    size_t at = 0; // number of the first maximum with it
  };
  std::vector<Highest> highestOf(const Groups &, size_t groups) const;
  // What each group has at these maxima, ascending.
  std::vector<std::vector<uint64_t>> curvesOf(const Groups &, size_t groups, std::span<const size_t> maxima) const;

private:
  struct Change {
    uint32_t at; // number of the maximum
    CohortId cohort;
    int64_t bytes;
  };
  // Calls onChange(cohort, bytes) for all changes at a maximum, then onMaximum(number), in order.
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

// Numbers of at most `most` of these values, ascending: the first and the last one, those that must be among them, and
// the highest one of each of equal parts. `wanted` in the order of importance: too many are not all taken.
std::vector<size_t> chooseMoments(std::span<const uint64_t> values, std::span<const size_t> wanted, size_t most);

} // namespace msleaks::analysis::inline findings
