// How much each cohort had alive at every local maximum of the memory in use: what the peak would be without some
// blocks can be worked out from it afterwards, for any of them.
//
// Between two local maxima memory first falls and then rises. So does the memory of any part of the blocks, whose
// highest point in between is therefore at one end or the other: it is enough to keep, for every local maximum, by how
// much each cohort has changed since the one before. A place that allocates and frees in turns changes by nothing and
// takes no room.
//
// Memory is bounded: where there are too many local maxima, those go that no part of the blocks misses by more than a
// limit, which grows until there is room again (error() says by how much a peak that is worked out may be too low).
#pragma once

#include "analysis/base/element_at.h"
#include "analysis/live/live_set.h"

#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis {

// Blocks that a cohort has from this moment on.
struct Added {
  uint64_t time_ns;
  CohortId cohort;
  int64_t bytes; // negative: no longer
};

using CohortSet = std::vector<bool>; // by index; those behind its end are not in it

class MemoryHistory final : public BlockObserver {
public:
  // `most_changes`: bound of what is kept, in changes of one cohort (16 bytes each); eight for each cohort are always
  // kept.
  explicit MemoryHistory(size_t most_changes = 1 << 17) : most_changes_(most_changes) {}

  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override {
    if (block.bytes() != 0)
      rise(block.cohort, block.bytes(), time_ns);
  }
  void onFree(const Block &block, FreeCause, uint64_t) override {
    if (block.bytes() != 0)
      fall(block.cohort, block.bytes());
  }
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;

  // What these cohorts, or these blocks (ascending by time), had at each local maximum, and have now.
  std::vector<int64_t> curveOf(const CohortSet &) const;
  std::vector<int64_t> curveOf(std::span<const Added>) const;
  // The highest sum of these cohorts.
  uint64_t peakOf(const CohortSet &) const;

  // How much too low a sum may be that is not of all cohorts.
  uint64_t error() const { return error_bytes_; }
  size_t maxima() const { return maxima_.size(); }

private:
  struct Change {
    CohortId cohort;
    int64_t bytes;
  };
  struct Maximum {
    uint64_t time_ns;
    size_t end; // of its changes
  };

  void rise(CohortId cohort, uint64_t bytes, uint64_t time_ns) {
    rises_ = true;
    time_ns_ = time_ns;
    deltaOf(cohort) += static_cast<int64_t>(bytes);
  }
  void fall(CohortId cohort, uint64_t bytes) {
    if (rises_)
      close();
    deltaOf(cohort) -= static_cast<int64_t>(bytes);
  }
  int64_t &deltaOf(CohortId cohort) {
    Delta &delta = elementAt(deltas_, cohort.index);
    if (delta.maximum != maximum_) {
      cohorts_ += delta.maximum == 0;
      delta = {maximum_, 0};
      touched_.push_back(cohort);
    }
    return delta.bytes;
  }
  class Run;

  void close();
  void thinOut();
  void mergeHumps(uint64_t limit_bytes);
  void settle();
  template <class F> void forEachMaximum(F &&) const;

  struct Delta {
    uint64_t maximum; // that `bytes` belongs to
    int64_t bytes;
  };
  size_t most_changes_;
  std::vector<Maximum> maxima_;
  std::vector<Change> changes_;
  std::vector<Maximum> spare_maxima_; // while they are thinned out: each time from the heap again costs more than that
  std::vector<Change> spare_changes_;
  // Since the last maximum:
  std::vector<Delta> deltas_; // by cohort
  std::vector<CohortId> touched_;
  size_t cohorts_ = 0;   // that ever had memory
  uint64_t maximum_ = 1; // number of the next one, to tell old deltas
  uint64_t time_ns_ = 0; // of its last allocation
  bool rises_ = false;
  std::vector<Added>
      moved_; // to or from another cohort, by a Retarget behind the maximum that the block was allocated before
  uint64_t limit_bytes_ = 32, error_bytes_ = 0;
};

} // namespace msleaks::analysis
