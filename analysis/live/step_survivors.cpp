#include "analysis/live/step_survivors.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline live {

void StepSurvivors::beginStep(uint64_t number, uint64_t time_ns) {
  if (number == last_number_)
    return; // another thread reported the same step
  last_number_ = number;
  takeFreed();
  if (steps_++ < kWarmUpSteps)
    return;
  if (open_ && ++open_->steps == stride_)
    close(time_ns);
  if (!open_)
    open_ = Bucket{time_ns, time_ns, number, 0};
}

void StepSurvivors::changeClosed(CohortId cohort, uint64_t born_ns, int64_t bytes, int64_t count) {
  const auto behind =
      std::upper_bound(closed_.begin(), closed_.end(), born_ns,
                       [](uint64_t time_ns, const Bucket &bucket) { return time_ns < bucket.begin_ns; });
  const Key key = keyOf(cohort, static_cast<uint32_t>(behind - closed_.begin() - 1));
  Kept &kept = kept_[key];
  if (kept.freed_count == 0 && kept.freed_bytes == 0)
    freed_.push_back(key);
  kept.freed_bytes -= bytes;
  kept.freed_count -= count;
}

void StepSurvivors::takeFreed() {
  for (const Key key : std::exchange(freed_, {})) {
    const auto at = kept_.find(key);
    if (at == kept_.end())
      continue; // the list contained it twice
    Kept &kept = at->second;
    kept.bytes -= std::exchange(kept.freed_bytes, 0);
    kept.count -= std::exchange(kept.freed_count, 0);
    if (kept.bytes == 0 && kept.count == 0)
      kept_.erase(at);
  }
}

void StepSurvivors::close(uint64_t time_ns) {
  const auto number = static_cast<uint32_t>(closed_.size());
  for (const CohortId cohort : std::exchange(touched_, {})) {
    const OpenSum sum = std::exchange(sums_[cohort.index], {});
    if (sum.count == 0 && sum.bytes == 0)
      continue;
    kept_[keyOf(cohort, number)] = {{sum.bytes, sum.count}};
    if (uint32_t &first = elementAt(first_, cohort.index); first == 0)
      first = number + 1;
  }
  open_->end_ns = time_ns;
  closed_.push_back(*std::exchange(open_, std::nullopt));
  if (closed_.size() == most_buckets_)
    halve();
}

// Joins pairs of buckets.
void StepSurvivors::halve() {
  for (size_t i = 0; i < closed_.size() / 2; ++i) {
    const Bucket &later = closed_[2 * i + 1];
    closed_[i] = closed_[2 * i];
    closed_[i].end_ns = later.end_ns;
    closed_[i].steps += later.steps;
  }
  closed_.resize(closed_.size() / 2);
  for (const auto &[key, kept] : std::exchange(kept_, {})) {
    Kept &both = kept_[key >> 32 << 32 | (key & UINT32_MAX) / 2];
    both.bytes += kept.bytes;
    both.count += kept.count;
  }
  for (uint32_t &first : first_)
    first = (first + 1) / 2;
  stride_ *= 2;
}

std::vector<StepSurvivors::Bucket> StepSurvivors::buckets() const {
  return {closed_.begin(), closed_.begin() + static_cast<ptrdiff_t>(judged())};
}

std::vector<StepSurvivors::Share> StepSurvivors::shares() const {
  std::vector<Share> list;
  for (const auto &[key, kept] : kept_)
    if (const auto bucket = static_cast<uint32_t>(key); bucket < judged())
      list.push_back({bucket, {static_cast<uint32_t>(key >> 32)}, kept.bytes, kept.count, kept.freed_bytes});
  std::sort(list.begin(), list.end(), [](const Share &a, const Share &b) {
    return std::pair(a.cohort, a.bucket) < std::pair(b.cohort, b.bucket);
  });
  return list;
}

std::optional<uint32_t> StepSurvivors::firstBucketOf(CohortId cohort) const {
  const uint32_t first = valueAt(first_, cohort.index);
  return first == 0 ? std::nullopt : std::optional(first - 1);
}

} // namespace msleaks::analysis::inline live
