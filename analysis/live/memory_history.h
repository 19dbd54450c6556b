// Stores the live bytes of each cohort at every local maximum of the memory in use. From this, the peak without any
// given set of blocks can be computed at the end.
//
// Between two local maxima, memory first falls and then rises. The same is true for any set of blocks, so its
// highest point in between is at one of the two maxima. So it is enough to store, for each local maximum, the change
// of each cohort since the maximum before. A place that allocates and frees alternately changes by 0, so takes no
// space.
//
// A block may also be absent in only a part of its life (AbsentBlock). After a maximum, memory stays as high for some
// time. If the block is absent in only a part of this time, its absence does not lower the maximum.
//
// The life of a block has parts (LifePart): before its first use, from the first use to the last, and after the last
// use. The last use is known only when the block is freed. So a local maximum is also stored at each use that may be
// the last.
//
// Memory is bounded. If there are too many local maxima, removes those that matter least for every set of blocks. The
// limit of this error grows until there is space again (error() returns how much too low a computed peak may be). The
// peaks of all memory and of each account are never removed.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/live_set.h"
#include "analysis/live/peaks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace msleaks::analysis::inline live {

// Bytes that a cohort does not have from one time to another.
struct AbsentBlock {
  CohortId cohort;
  int64_t bytes; // negative: bytes that it has in addition
  uint64_t from_ns;
  uint64_t to_ns = UINT64_MAX;
};

using CohortSet = std::vector<bool>; // by index; cohorts after its end are not in the set

class MemoryHistory final : public BlockObserver {
public:
  static constexpr LifeParts kAllParts = LifeParts::all();

  // `most_changes` limits the stored changes of cohorts (16 bytes each). At least eight changes for each cohort are
  // always kept.
  explicit MemoryHistory(size_t most_changes = 1 << 17) : most_changes_(most_changes) {}

  // Keeps the maxima at which `peaks` have their peaks. Call it before the first block. Each block must be reported to
  // this history first, and then to `peaks`.
  void keepPeaks(const Peaks &peaks) { peaks_ = &peaks; }

  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    if (block.bytes() == 0)
      return;
    const LifePart part = hasUses(block.heap) ? beginUses(block, cause, time_ns) : LifePart::NotUsed;
    rise({block.cohort, part}, block.bytes(), time_ns);
  }
  void onFree(const Block &block, FreeCause cause, uint64_t time_ns) override {
    if (block.bytes() == 0)
      return;
    const LifePart part = hasUses(block.heap) ? endUses(block, cause) : LifePart::NotUsed;
    fall({block.cohort, part}, block.bytes(), time_ns);
  }
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void onUse(const Block &, const Use &) override;

  // The bytes of these cohorts' blocks, in these parts of their lives, at each local maximum, and now.
  std::vector<int64_t> curveOf(const CohortSet &, LifeParts = kAllParts) const;
  // The maxima [from, to) that are lower by the block's bytes.
  struct Maxima {
    size_t from, to;
  };
  Maxima maximaWithout(const AbsentBlock &) const;
  // Calls f(number of the local maximum, cohort, part, bytes) for each change at a maximum, in any order. The numbers
  // are indexes in the curves, so the last one means now.
  template <class F> void forEachChange(F &&f) const {
    size_t number = 0;
    forEachMaximum([&](uint64_t, std::span<const Change> changes) {
      for (const Change &change : changes)
        f(number, change.key.cohort, change.key.part, change.bytes);
      ++number;
    });
    for (const Moved &moved : moved_)
      f(numberOf(moved.time_ns), moved.change.key.cohort, moved.change.key.part, moved.change.bytes);
  }
  // The first local maximum that contains bytes which are added at this time.
  size_t numberOf(uint64_t time_ns) const {
    const auto at = std::lower_bound(maxima_.begin(), maxima_.end(), time_ns,
                                     [](const Maximum &maximum, uint64_t time) { return maximum.time_ns < time; });
    return static_cast<size_t>(at - maxima_.begin());
  }
  // CLOCK_MONOTONIC of each local maximum, and UINT64_MAX for now.
  std::vector<uint64_t> times() const;
  // The highest sum of these cohorts.
  uint64_t peakOf(const CohortSet &) const;

  // The largest error of a sum over some of the cohorts: it may be too low by this.
  uint64_t error() const { return error_bytes_; }
  size_t maxima() const { return maxima_.size(); }

private:
  static constexpr size_t kChangesPerKey = 8;

  struct Key {
    CohortId cohort;
    LifePart part = LifePart::NotUsed;
  };
  struct Change {
    Key key;
    int64_t bytes;
  };
  // Bytes that belong to another key from a time on that is already past.
  struct Moved {
    uint64_t time_ns;
    Change change;
  };
  // The life of a block whose uses can be seen.
  struct Life {
    CohortId cohort;
    uint64_t bytes = 0;
    uint64_t first_ns = 0, last_ns = 0; // uses; 0 = none
    bool was_there = false;             // alive when the history began: first_ns is that time
    bool assumed_late = false;          // treated as if its last use was over
  };
  struct Maximum {
    uint64_t time_ns;
    uint64_t until_ns; // memory stays as high or higher until then; UINT64_MAX: up to now
    size_t end;        // end of its changes
  };

  void rise(Key key, uint64_t bytes, uint64_t time_ns) {
    rises_ = true;
    time_ns_ = time_ns;
    deltaOf(key) += static_cast<int64_t>(bytes);
  }
  void fall(Key key, uint64_t bytes, uint64_t time_ns) {
    if (rises_ || is_high_)
      endMaximum(time_ns);
    deltaOf(key) -= static_cast<int64_t>(bytes);
  }
  int64_t &deltaOf(Key key) {
    Delta &delta = elementAt(deltas_[static_cast<size_t>(key.part)], key.cohort.index);
    if (delta.maximum != maximum_) {
      keys_ += delta.maximum == 0;
      delta = {maximum_, 0};
      touched_.push_back(key);
    }
    return delta.bytes;
  }
  class Run;

  LifePart beginUses(const Block &, AllocCause, uint64_t time_ns);
  LifePart endUses(const Block &, FreeCause);
  void assumeLate();
  void move(Key from, Key to, uint64_t bytes, uint64_t since_ns);

  // The first local maximum that lasts longer than this time, or comes later.
  size_t numberAfter(uint64_t time_ns) const;

  void close();
  void endMaximum(uint64_t time_ns);
  void thinOut();
  void mergeHumps(uint64_t limit_bytes, std::span<const uint64_t> pinned_ns);
  std::vector<uint64_t> timesOfPeaks() const;
  size_t mostKept() const { return std::max({most_changes_, kChangesPerKey * keys_, room_}); }
  void settle();
  template <class F> void forEachMaximum(F &&f) const {
    size_t begin = 0;
    for (const Maximum &maximum : maxima_) {
      f(maximum.time_ns, std::span(changes_).subspan(begin, maximum.end - begin));
      begin = maximum.end;
    }
    std::vector<Change> open;
    for (const Key key : touched_)
      open.push_back({key, deltas_[static_cast<size_t>(key.part)][key.cohort.index].bytes});
    f(UINT64_MAX, std::span<const Change>(open));
  }

  struct Delta {
    uint64_t maximum; // the maximum to which `bytes` belongs
    int64_t bytes;
  };
  size_t most_changes_;
  size_t room_ = 0;              // twice what the last thinning left
  const Peaks *peaks_ = nullptr; // the maxima of these peaks stay
  std::vector<Maximum> maxima_;
  std::vector<Change> changes_;
  std::vector<Maximum> spare_maxima_; // for thinning out: to allocate them each time costs more
  std::vector<Change> spare_changes_;
  // Since the last maximum:
  std::array<std::vector<Delta>, static_cast<size_t>(LifePart::Count)> deltas_; // by cohort
  std::vector<Key> touched_;
  size_t keys_ = 0;      // keys that ever had memory
  uint64_t maximum_ = 1; // number of the next maximum, to recognise old deltas
  uint64_t time_ns_ = 0; // time of the last allocation before it
  bool rises_ = false;
  bool is_high_ = false;     // memory has not fallen since the last maximum
  bool has_lives_ = false;   // a block whose uses can be seen has changed
  std::vector<Moved> moved_; // changes for a time before the last maximum
  std::vector<Life> lives_;  // by the block's number
  uint64_t limit_bytes_ = 32, error_bytes_ = 0;
};

} // namespace msleaks::analysis::inline live
