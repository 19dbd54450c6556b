// The live bytes of each cohort at every local maximum of the memory in use. The peak without some blocks can be
// computed from it afterwards, for any of them.
//
// Between two local maxima memory first falls and then rises. So does the memory of any part of the blocks, whose
// highest point in between is therefore at one end or the other. So it is enough to keep, for every local maximum, by
// how much each cohort has changed since the one before. A place that allocates and frees in turns changes by nothing
// and takes no room.
//
// A block's part in it changes with its uses: what it takes before its first use, from there to the last one, and
// behind it are told apart (LifePart). Which use was the last one is known when the block is freed, so a local maximum
// is also kept wherever a use may have been the last.
//
// Memory is bounded: where there are too many local maxima, those go that no part of the blocks misses by more than a
// limit, which grows until there is room again (error() says by how much a peak that is worked out may be too low).
// The peaks of all memory and of each account never go.
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

// Blocks that a cohort has from this moment on.
struct Added {
  uint64_t time_ns;
  CohortId cohort;
  int64_t bytes; // negative: no longer
};

using CohortSet = std::vector<bool>; // by index; those behind its end are not in it

class MemoryHistory final : public BlockObserver {
public:
  static constexpr LifeParts kAllParts = LifeParts::all();

  // `most_changes`: bound of what is kept, in changes of one cohort (16 bytes each); eight for each cohort are always
  // kept.
  explicit MemoryHistory(size_t most_changes = 1 << 17) : most_changes_(most_changes) {}

  // Before the first block: the maxima where these have their peaks are kept. Whoever tells this history of blocks
  // tells `peaks` of them behind it.
  void keepPeaks(const Peaks &peaks) { peaks_ = &peaks; }

  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    if (block.bytes() == 0)
      return;
    const LifePart part = hasUses(block.heap) ? beginUses(block, cause, time_ns) : LifePart::NotUsed;
    rise({block.cohort, part}, block.bytes(), time_ns);
  }
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    if (block.bytes() == 0)
      return;
    const LifePart part = hasUses(block.heap) ? endUses(block, cause) : LifePart::NotUsed;
    fall({block.cohort, part}, block.bytes());
  }
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void onUse(const Block &, const Use &) override;

  // What these cohorts had in these parts of their blocks' lives, or these blocks (ascending by time), at each local
  // maximum, and have now.
  std::vector<int64_t> curveOf(const CohortSet &, LifeParts = kAllParts) const;
  std::vector<int64_t> curveOf(std::span<const Added>) const;
  // Calls f(number of the local maximum, cohort, part, bytes) for each change at a maximum, in any order. The numbers
  // are those of curves, so the last one is now.
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
  // The first local maximum that has what is added at this time.
  size_t numberOf(uint64_t time_ns) const {
    const auto at = std::lower_bound(maxima_.begin(), maxima_.end(), time_ns,
                                     [](const Maximum &maximum, uint64_t time) { return maximum.time_ns < time; });
    return static_cast<size_t>(at - maxima_.begin());
  }
  // CLOCK_MONOTONIC of each local maximum; now: UINT64_MAX.
  std::vector<uint64_t> times() const;
  // The highest sum of these cohorts.
  uint64_t peakOf(const CohortSet &) const;

  // How much too low a sum may be that is not of all cohorts.
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
  // Bytes that are another key's from a moment on that lies behind us.
  struct Moved {
    uint64_t time_ns;
    Change change;
  };
  // Of a live block whose uses can be seen.
  struct Life {
    CohortId cohort;
    uint64_t bytes = 0;
    uint64_t first_ns = 0, last_ns = 0; // uses; 0: none
    bool was_there = false;             // when the history began: then first_ns is that moment
    bool assumed_late = false;          // behind the last use
  };
  struct Maximum {
    uint64_t time_ns;
    size_t end; // of its changes
  };

  void rise(Key key, uint64_t bytes, uint64_t time_ns) {
    rises_ = true;
    time_ns_ = time_ns;
    deltaOf(key) += static_cast<int64_t>(bytes);
  }
  void fall(Key key, uint64_t bytes) {
    if (rises_)
      close();
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

  void close();
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
    uint64_t maximum; // that `bytes` belongs to
    int64_t bytes;
  };
  size_t most_changes_;
  size_t room_ = 0;              // twice what could not go the last time
  const Peaks *peaks_ = nullptr; // whose maxima stay
  std::vector<Maximum> maxima_;
  std::vector<Change> changes_;
  std::vector<Maximum> spare_maxima_; // while they are thinned out: each time from the heap again costs more than that
  std::vector<Change> spare_changes_;
  // Since the last maximum:
  std::array<std::vector<Delta>, static_cast<size_t>(LifePart::Count)> deltas_; // by cohort
  std::vector<Key> touched_;
  size_t keys_ = 0;      // that ever had memory
  uint64_t maximum_ = 1; // number of the next one, to tell old deltas
  uint64_t time_ns_ = 0; // of its last allocation
  bool rises_ = false;
  bool has_lives_ = false;   // blocks have changed whose uses can be seen
  std::vector<Moved> moved_; // since a moment before the last maximum
  std::vector<Life> lives_;  // by number of the block
  uint64_t limit_bytes_ = 32, error_bytes_ = 0;
};

} // namespace msleaks::analysis::inline live
