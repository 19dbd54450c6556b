// Counts in how many steps blocks were allocated that outlived the step. A leak in each step has survivors from the
// first step to the last. Blocks that are kept for some time have survivors only from the last steps.
//
// For one process. Its memory grows only with live blocks. Steps are in a limited number of buckets: if all buckets are
// full, joins pairs of buckets.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/cohorts.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

class StepSurvivors {
public:
  // The program keeps blocks of its first steps on purpose: caches, an optimizer's state.
  static constexpr uint64_t kWarmUpSteps = 1;

  // `most_buckets` is an even number.
  explicit StepSurvivors(size_t most_buckets = 128) : most_buckets_(most_buckets) {}

  // A step begins, and the step before it ends.
  void beginStep(uint64_t number, uint64_t time_ns);
  // A block of this cohort, born at `born_ns`, was allocated now, or freed (negative).
  void change(CohortId cohort, uint64_t born_ns, int64_t bytes, int64_t count) {
    if (open_ && born_ns >= open_->begin_ns) [[likely]]
      changeOpen(cohort, bytes, count);
    else if (!closed_.empty() && born_ns >= closed_.front().begin_ns)
      changeClosed(cohort, born_ns, bytes, count);
  }

  // Consecutive steps.
  struct Bucket {
    uint64_t begin_ns, end_ns;
    uint64_t first_step; // as the program counts
    uint64_t steps;
  };
  struct Share {
    uint32_t bucket;
    CohortId cohort;
    int64_t bytes, count;    // alive when the last step began
    int64_t freed_bytes = 0; // bytes of survivors that were freed after that
  };
  // The buckets whose survivors had at least one whole step in which they could be freed, and these survivors;
  // ascending by cohort, then by bucket.
  std::vector<Bucket> buckets() const;
  std::vector<Share> shares() const;
  // The first bucket that had survivors of the cohort, whether they are still alive or not.
  std::optional<uint32_t> firstBucketOf(CohortId) const;

private:
  struct Sum {
    int64_t bytes = 0, count = 0;
  };
  struct OpenSum : Sum {
    bool touched = false;
  };
  struct Kept : Sum {
    int64_t freed_bytes = 0, freed_count = 0; // since the open step began: they count when the next step begins
  };
  // The key of a cohort's survivors in a bucket.
  using Key = uint64_t;
  static Key keyOf(CohortId cohort, uint32_t bucket) { return uint64_t{cohort.index} << 32 | bucket; }

  void changeOpen(CohortId cohort, int64_t bytes, int64_t count) {
    OpenSum &sum = elementAt(sums_, cohort.index);
    if (!sum.touched) {
      sum.touched = true;
      touched_.push_back(cohort);
    }
    sum.bytes += bytes;
    sum.count += count;
  }
  void changeClosed(CohortId, uint64_t born_ns, int64_t bytes, int64_t count);
  void takeFreed();
  void close(uint64_t time_ns);
  void halve();
  size_t judged() const { return closed_.empty() ? 0 : closed_.size() - (open_->steps == 0); }

  size_t most_buckets_;
  uint64_t stride_ = 1; // number of steps in a bucket
  uint64_t steps_ = 0;  // number of steps that have begun
  std::optional<uint64_t> last_number_;
  std::vector<Bucket> closed_;
  std::optional<Bucket> open_;
  std::vector<OpenSum> sums_; // by cohort: sums of the open bucket
  std::vector<CohortId> touched_;
  std::unordered_map<Key, Kept> kept_;
  std::vector<Key> freed_;      // keys with blocks that were freed in the open step
  std::vector<uint32_t> first_; // by cohort: number of its first bucket, from 1
};

} // namespace msleaks::analysis::inline live
