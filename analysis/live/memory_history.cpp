#include "analysis/live/memory_history.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis {
namespace {

constexpr size_t kMostMoved = 1 << 16;
constexpr size_t kChangesPerCohort = 8;

bool isIn(const CohortSet &set, CohortId cohort) { return cohort.index < set.size() && set[cohort.index]; }

void sortByTime(std::vector<Added> &list) {
  std::stable_sort(list.begin(), list.end(), [](const Added &a, const Added &b) { return a.time_ns < b.time_ns; });
}

} // namespace

// The block was the other cohort's from its birth on. If that lies before the last maximum, the changes up to that one
// are put right later: there may be many such blocks.
void MemoryHistory::onRetarget(const Block &block, const Block &before, uint64_t) {
  const auto bytes = static_cast<int64_t>(block.bytes());
  if (bytes == 0 || block.cohort == before.cohort)
    return;
  if (maxima_.empty() || block.time_ns > maxima_.back().time_ns) {
    deltaOf(before.cohort) -= bytes;
    deltaOf(block.cohort) += bytes;
    return;
  }
  moved_.push_back({block.time_ns, before.cohort, -bytes});
  moved_.push_back({block.time_ns, block.cohort, bytes});
  if (moved_.size() >= kMostMoved)
    settle();
}

// Memory falls again: that was a maximum.
void MemoryHistory::close() {
  const size_t first = changes_.size();
  for (const CohortId cohort : touched_)
    if (const int64_t bytes = deltas_[cohort.index].bytes; bytes != 0)
      changes_.push_back({cohort, bytes});
  if (changes_.size() != first)
    maxima_.push_back({time_ns_, changes_.size()});
  touched_.clear();
  ++maximum_;
  rises_ = false;
  if (changes_.size() > std::max(most_changes_, kChangesPerCohort * cohorts_))
    thinOut();
}

template <class F> void MemoryHistory::forEachMaximum(F &&f) const {
  size_t begin = 0;
  for (const Maximum &maximum : maxima_) {
    f(maximum.time_ns, std::span(changes_).subspan(begin, maximum.end - begin));
    begin = maximum.end;
  }
  std::vector<Change> open;
  for (const CohortId cohort : touched_)
    open.push_back({cohort, deltas_[cohort.index].bytes});
  f(UINT64_MAX, std::span<const Change>(open));
}

std::vector<int64_t> MemoryHistory::curveOf(const CohortSet &set) const {
  std::vector<Added> moved = moved_;
  std::erase_if(moved, [&](const Added &added) { return !isIn(set, added.cohort); });
  sortByTime(moved);
  std::vector<int64_t> curve = curveOf(std::span<const Added>(moved));
  int64_t sum = 0;
  size_t at = 0;
  forEachMaximum([&](uint64_t, std::span<const Change> changes) {
    for (const Change &change : changes)
      sum += isIn(set, change.cohort) ? change.bytes : 0;
    curve[at++] += sum;
  });
  return curve;
}

std::vector<int64_t> MemoryHistory::curveOf(std::span<const Added> blocks) const {
  std::vector<int64_t> curve;
  curve.reserve(maxima_.size() + 1);
  int64_t sum = 0;
  auto next = blocks.begin();
  const auto addUntil = [&](uint64_t time_ns) {
    for (; next != blocks.end() && next->time_ns <= time_ns; ++next)
      sum += next->bytes;
    curve.push_back(sum);
  };
  for (const Maximum &maximum : maxima_)
    addUntil(maximum.time_ns);
  addUntil(UINT64_MAX);
  return curve;
}

uint64_t MemoryHistory::peakOf(const CohortSet &set) const {
  const std::vector<int64_t> curve = curveOf(set);
  return static_cast<uint64_t>(std::max<int64_t>(*std::max_element(curve.begin(), curve.end()), 0));
}

// Takes what was moved into the changes.
void MemoryHistory::settle() {
  sortByTime(moved_);
  std::vector<Change> changes;
  changes.reserve(changes_.size() + moved_.size());
  auto next = moved_.begin();
  size_t begin = 0;
  for (Maximum &maximum : maxima_) {
    changes.insert(changes.end(), changes_.begin() + static_cast<ptrdiff_t>(begin),
                   changes_.begin() + static_cast<ptrdiff_t>(maximum.end));
    for (; next != moved_.end() && next->time_ns <= maximum.time_ns; ++next)
      changes.push_back({next->cohort, next->bytes});
    begin = maximum.end;
    maximum.end = changes.size();
  }
  changes_ = std::move(changes);
  moved_.clear();
}

void MemoryHistory::thinOut() {
  settle();
  const size_t most = std::max(most_changes_, kChangesPerCohort * cohorts_) / 2;
  for (mergeHumps(limit_bytes_); changes_.size() > most && maxima_.size() > 2; mergeHumps(limit_bytes_))
    limit_bytes_ *= 2;
}

// A run of maxima of which the last one may stay alone. For any part of the blocks, one that goes rose above the last
// maximum before the run by no more than all cohorts rose until then, and lies above the last one of the run by no more
// than cohorts have fallen since.
class MemoryHistory::Run {
public:
  explicit Run(size_t cohorts) : cohorts_(cohorts) {}

  // What may be lost if the run goes on with these changes, and ends with them.
  uint64_t lostWith(std::span<const Change> changes) const {
    int64_t fallen = fallen_;
    for (const Change &change : changes) {
      const Moved &moved = cohorts_[change.cohort.index];
      fallen += fallAt(std::max(moved.highest, moved.now), moved.now + change.bytes) - fallAt(moved.highest, moved.now);
    }
    return static_cast<uint64_t>(std::min(std::max(most_risen_, risen_), fallen));
  }
  void add(std::span<const Change> changes, uint64_t time_ns) {
    most_risen_ = std::max(most_risen_, risen_);
    for (const Change &change : changes) {
      Moved &moved = cohorts_[change.cohort.index];
      fallen_ -= fallAt(moved.highest, moved.now);
      risen_ -= std::max<int64_t>(moved.now, 0);
      moved.highest = std::max(moved.highest, moved.now);
      moved.now += change.bytes;
      fallen_ += fallAt(moved.highest, moved.now);
      risen_ += std::max<int64_t>(moved.now, 0);
      touched_.push_back(change.cohort);
    }
    time_ns_ = time_ns;
  }
  // The run as one maximum.
  void take(std::vector<Change> &changes, std::vector<Maximum> &maxima) {
    const size_t first = changes.size();
    for (const CohortId cohort : touched_)
      if (const Moved moved = std::exchange(cohorts_[cohort.index], {}); moved.now != 0)
        changes.push_back({cohort, moved.now});
    if (changes.size() != first)
      maxima.push_back({time_ns_, changes.size()});
    touched_.clear();
    fallen_ = risen_ = most_risen_ = 0;
  }

private:
  // Of a cohort, against the maximum before the run.
  struct Moved {
    int64_t now = 0, highest = 0; // at the maxima before the last one
  };
  static int64_t fallAt(int64_t highest, int64_t now) { return std::max<int64_t>(highest - now, 0); }

  std::vector<Moved> cohorts_;
  std::vector<CohortId> touched_;
  int64_t fallen_ = 0, risen_ = 0, most_risen_ = 0; // sums over cohorts; the last: at the maxima before the last one
  uint64_t time_ns_ = 0;
};

// Drops maxima that no part of the blocks misses by more than the limit.
void MemoryHistory::mergeHumps(uint64_t limit_bytes) {
  spare_changes_.clear();
  spare_maxima_.clear();
  Run run(deltas_.size());
  uint64_t most_lost_bytes = 0;
  size_t begin = 0;
  for (const Maximum &maximum : maxima_) {
    const auto list = std::span<const Change>(changes_).subspan(begin, maximum.end - begin);
    begin = maximum.end;
    if (const uint64_t lost_bytes = run.lostWith(list); lost_bytes > limit_bytes)
      run.take(spare_changes_, spare_maxima_);
    else
      most_lost_bytes = std::max(most_lost_bytes, lost_bytes);
    run.add(list, maximum.time_ns);
  }
  run.take(spare_changes_, spare_maxima_);
  changes_.swap(spare_changes_);
  maxima_.swap(spare_maxima_);
  error_bytes_ += most_lost_bytes;
}

} // namespace msleaks::analysis
