#include "analysis/live/memory_history.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace msleaks::analysis::inline live {
namespace {

constexpr size_t kMostMoved = 1 << 16;

bool isIn(const CohortSet &set, CohortId cohort) { return cohort.index < set.size() && set[cohort.index]; }

template <class List> void sortByTime(List &list) {
  std::stable_sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.time_ns < b.time_ns; });
}

} // namespace

// If the time is before the last maximum, settle() corrects the changes before that maximum later, many at once.
void MemoryHistory::move(Key from, Key to, uint64_t bytes, uint64_t since_ns) {
  const auto moved = static_cast<int64_t>(bytes);
  if (maxima_.empty() || since_ns > maxima_.back().time_ns) {
    deltaOf(from) -= moved;
    deltaOf(to) += moved;
    return;
  }
  moved_.push_back({since_ns, {from, -moved}});
  moved_.push_back({since_ns, {to, moved}});
  if (moved_.size() >= kMostMoved)
    settle();
}

// The block belonged to the other cohort from its birth on.
void MemoryHistory::onRetarget(const Block &block, const Block &before, uint64_t) {
  const uint64_t bytes = block.bytes();
  if (bytes == 0 || block.cohort == before.cohort)
    return;
  const Life life = hasUses(block.heap) ? valueAt(lives_, block.id.index) : Life{};
  const LifePart first = life.was_there ? LifePart::InUse : LifePart::NotUsed;
  move({before.cohort, first}, {block.cohort, first}, bytes, life.was_there ? life.first_ns : block.time_ns);
  if (life.bytes == 0)
    return;
  lives_[block.id.index].cohort = block.cohort;
  const auto passOn = [&](LifePart from, LifePart to, uint64_t since_ns) {
    move({before.cohort, to}, {before.cohort, from}, bytes, since_ns);
    move({block.cohort, from}, {block.cohort, to}, bytes, since_ns);
  };
  if (life.first_ns != 0 && !life.was_there)
    passOn(LifePart::NotUsed, LifePart::InUse, life.first_ns);
  if (life.assumed_late)
    passOn(LifePart::InUse, LifePart::Late, life.last_ns + 1);
}

// A block from before the history may have been used before. So it is in use, and not late until it is used again.
LifePart MemoryHistory::beginUses(const Block &block, AllocCause cause, uint64_t time_ns) {
  const bool is_new = cause == AllocCause::Allocated || cause == AllocCause::Reallocated;
  has_lives_ = true;
  elementAt(lives_, block.id.index) = {block.cohort, block.bytes(), is_new ? 0 : time_ns, 0, !is_new, false};
  return is_new ? LifePart::NotUsed : LifePart::InUse;
}

void MemoryHistory::onUse(const Block &block, const Use &use) {
  if (block.id.index >= lives_.size() || lives_[block.id.index].bytes == 0)
    return;
  if (rises_)
    close(); // after this time, the block may be out of use
  Life &life = lives_[block.id.index];
  if (life.first_ns == 0) {
    life.first_ns = life.last_ns = use.time_ns;
    deltaOf({life.cohort, LifePart::NotUsed}) -= static_cast<int64_t>(life.bytes);
    rise({life.cohort, LifePart::InUse}, life.bytes, use.time_ns);
    return close(); // this use may be the last one, too
  }
  if (std::exchange(life.assumed_late, false))
    move({life.cohort, LifePart::Late}, {life.cohort, LifePart::InUse}, life.bytes, life.last_ns + 1);
  life.last_ns = std::max(life.last_ns, use.time_ns);
}

// The last use is known now. Returns the part of life in which the block ends.
LifePart MemoryHistory::endUses(const Block &block, FreeCause cause) {
  const Life life = std::exchange(elementAt(lives_, block.id.index), {});
  if (life.bytes == 0)
    return LifePart::NotUsed;
  if (rises_)
    close();
  if (life.first_ns == 0) {
    move({life.cohort, LifePart::NotUsed}, {life.cohort, LifePart::Unused}, life.bytes, block.time_ns);
    return LifePart::Unused;
  }
  if (life.last_ns == 0)
    return LifePart::InUse;
  const LifePart last = isEnd(cause) ? LifePart::Kept : LifePart::Late;
  const LifePart seen = life.assumed_late ? LifePart::Late : LifePart::InUse;
  if (last != seen)
    move({life.cohort, seen}, {life.cohort, last}, life.bytes, life.last_ns + 1);
  return last;
}

// Before maxima are removed, treats each block's latest use as its last. So the limit also holds for late parts.
void MemoryHistory::assumeLate() {
  for (Life &life : lives_)
    if (life.last_ns != 0 && !std::exchange(life.assumed_late, true))
      move({life.cohort, LifePart::InUse}, {life.cohort, LifePart::Late}, life.bytes, life.last_ns + 1);
}

// Memory falls again, so the last time was a local maximum.
void MemoryHistory::close() {
  const size_t first = changes_.size();
  for (const Key key : touched_)
    if (const int64_t bytes = deltaOf(key); bytes != 0)
      changes_.push_back({key, bytes});
  if (is_high_ && !maxima_.empty())
    maxima_.back().until_ns = time_ns_;
  if (changes_.size() != first || has_lives_) // parts of lives may differ later
    maxima_.push_back({time_ns_, UINT64_MAX, changes_.size()});
  touched_.clear();
  ++maximum_;
  is_high_ = true; // without a new maximum, memory is as high as at the last one
  rises_ = has_lives_ = false;
  if (std::max(changes_.size(), maxima_.size()) > mostKept())
    thinOut();
}

// Memory falls at this time.
void MemoryHistory::endMaximum(uint64_t time_ns) {
  if (rises_)
    close();
  if (!maxima_.empty())
    maxima_.back().until_ns = time_ns;
  is_high_ = false;
}

std::vector<int64_t> MemoryHistory::curveOf(const CohortSet &set, LifeParts parts) const {
  std::vector<int64_t> curve(maxima_.size() + 1);
  forEachChange([&](size_t number, CohortId cohort, LifePart part, int64_t bytes) {
    if (isIn(set, cohort) && parts.has(part))
      curve[number] += bytes;
  });
  std::partial_sum(curve.begin(), curve.end(), curve.begin());
  return curve;
}

size_t MemoryHistory::numberAfter(uint64_t time_ns) const {
  const auto at = std::upper_bound(maxima_.begin(), maxima_.end(), time_ns,
                                   [](uint64_t time, const Maximum &maximum) { return time < maximum.until_ns; });
  return static_cast<size_t>(at - maxima_.begin());
}

MemoryHistory::Maxima MemoryHistory::maximaWithout(const AbsentBlock &block) const {
  const bool is_absent = block.bytes >= 0;
  const size_t from = is_absent ? numberOf(block.from_ns) : numberAfter(block.from_ns);
  const size_t to = is_absent ? numberAfter(block.to_ns) : numberOf(block.to_ns);
  return {from, block.to_ns == UINT64_MAX ? maxima_.size() + 1 : std::max(from, to)};
}

std::vector<uint64_t> MemoryHistory::times() const {
  std::vector<uint64_t> times;
  for (const Maximum &maximum : maxima_)
    times.push_back(maximum.time_ns);
  times.push_back(UINT64_MAX);
  return times;
}

uint64_t MemoryHistory::peakOf(const CohortSet &set) const {
  const std::vector<int64_t> curve = curveOf(set);
  return static_cast<uint64_t>(std::max<int64_t>(*std::max_element(curve.begin(), curve.end()), 0));
}

// Adds the changes for earlier times to the changes of the maxima.
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
      changes.push_back(next->change);
    begin = maximum.end;
    maximum.end = changes.size();
  }
  changes_ = std::move(changes);
  moved_.clear();
}

void MemoryHistory::thinOut() {
  assumeLate();
  settle();
  const std::vector<uint64_t> pinned_ns = timesOfPeaks();
  const size_t most = std::max(most_changes_, kChangesPerKey * keys_) / 2, fewest = 2 + pinned_ns.size();
  for (mergeHumps(limit_bytes_, pinned_ns); changes_.size() > most && maxima_.size() > fewest;
       mergeHumps(limit_bytes_, pinned_ns))
    limit_bytes_ *= 2;
  room_ = 2 * std::max(changes_.size(), maxima_.size());
}

// In ascending order.
std::vector<uint64_t> MemoryHistory::timesOfPeaks() const {
  std::vector<uint64_t> times;
  if (peaks_ == nullptr)
    return times;
  times.push_back(peaks_->physical().clock().timeNs());
  peaks_->forEachAccount([&](const Account &, const PeakTracker &of) { times.push_back(of.clock().timeNs()); });
  std::sort(times.begin(), times.end());
  return times;
}

// A run of consecutive maxima that may be merged into its last one. For any set of blocks, a removed maximum is higher
// than the maximum before the run by at most what all cohorts rose until then. It is higher than the last maximum of
// the run by at most what all cohorts fell since then.
class MemoryHistory::Run {
public:
  explicit Run(size_t cohorts) : of_part_(cohorts), keys_(cohorts * static_cast<size_t>(LifePart::Count)) {}

  // The largest possible loss if these changes are added to the run as its last maximum.
  uint64_t lostWith(std::span<const Change> changes) const {
    int64_t fallen = fallen_;
    for (const Change &change : changes) {
      const Level &moved = keys_[indexOf(change.key)];
      fallen += fallAt(std::max(moved.highest, moved.now), moved.now + change.bytes) - fallAt(moved.highest, moved.now);
    }
    return static_cast<uint64_t>(std::min(std::max(most_risen_, risen_), fallen));
  }
  void add(std::span<const Change> changes, const Maximum &maximum) {
    most_risen_ = std::max(most_risen_, risen_);
    for (const Change &change : changes) {
      Level &moved = keys_[indexOf(change.key)];
      fallen_ -= fallAt(moved.highest, moved.now);
      risen_ -= std::max<int64_t>(moved.now, 0);
      moved.highest = std::max(moved.highest, moved.now);
      moved.now += change.bytes;
      fallen_ += fallAt(moved.highest, moved.now);
      risen_ += std::max<int64_t>(moved.now, 0);
      touched_.push_back(change.key);
    }
    last_ = maximum;
  }
  // Writes the run as one maximum, and empties the run.
  void take(std::vector<Change> &changes, std::vector<Maximum> &maxima) {
    const size_t first = changes.size();
    for (const Key key : touched_)
      if (const Level moved = std::exchange(keys_[indexOf(key)], {}); moved.now != 0)
        changes.push_back({key, moved.now});
    if (changes.size() != first)
      maxima.push_back({last_.time_ns, last_.until_ns, changes.size()});
    touched_.clear();
    fallen_ = risen_ = most_risen_ = 0;
  }

private:
  // The change of a key since the maximum before the run.
  struct Level {
    int64_t now = 0, highest = 0; // at the maxima before the last one
  };
  static int64_t fallAt(int64_t highest, int64_t now) { return std::max<int64_t>(highest - now, 0); }

  size_t indexOf(Key key) const { return static_cast<size_t>(key.part) * of_part_ + key.cohort.index; }

  size_t of_part_;
  std::vector<Level> keys_;
  std::vector<Key> touched_;
  int64_t fallen_ = 0, risen_ = 0, most_risen_ = 0; // sums over cohorts; most_risen_: at maxima before the last
  Maximum last_{};
};

// Removes maxima that change the highest point of any set of blocks by at most the limit. Keeps the first maximum at or
// after each pinned time.
void MemoryHistory::mergeHumps(uint64_t limit_bytes, std::span<const uint64_t> pinned_ns) {
  spare_changes_.clear();
  spare_maxima_.clear();
  size_t cohorts = 0;
  for (const auto &part : deltas_)
    cohorts = std::max(cohorts, part.size());
  Run run(cohorts);
  uint64_t most_lost_bytes = 0;
  size_t begin = 0;
  bool is_pinned = false; // whether the maximum before is pinned
  for (const Maximum &maximum : maxima_) {
    const auto list = std::span<const Change>(changes_).subspan(begin, maximum.end - begin);
    begin = maximum.end;
    if (const uint64_t lost_bytes = run.lostWith(list); is_pinned || lost_bytes > limit_bytes)
      run.take(spare_changes_, spare_maxima_);
    else
      most_lost_bytes = std::max(most_lost_bytes, lost_bytes);
    run.add(list, maximum);
    const auto behind = std::upper_bound(pinned_ns.begin(), pinned_ns.end(), maximum.time_ns);
    is_pinned = behind != pinned_ns.begin();
    pinned_ns = pinned_ns.subspan(static_cast<size_t>(behind - pinned_ns.begin()));
  }
  run.take(spare_changes_, spare_maxima_);
  changes_.swap(spare_changes_);
  maxima_.swap(spare_maxima_);
  error_bytes_ += most_lost_bytes;
}

} // namespace msleaks::analysis::inline live
