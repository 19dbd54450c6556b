// Finds out what repeats in a program that does not say where its steps begin: a place that allocates once in each
// round, whatever else its thread allocates in between, as long as that is the same from round to round.
//
// It finds the rounds of one process. Its memory grows with cohorts; the cost of an allocation does not depend on
// earlier ones. Times are only told, never compared: the same allocations have the same rounds on every machine.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/cohorts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

class PeriodFinder {
public:
  PeriodFinder() = default;
  PeriodFinder(PeriodFinder &&) = default;
  PeriodFinder &operator=(PeriodFinder &&) = default;

  enum class Step : uint8_t {
    GoesOn,
    Begins, // another round of the period that is known
    First,  // the first round of a period that nobody knew, and that what was known is a part of
  };

  // The thread allocates a block of this cohort; each cohort belongs to one thread.
  Step onAlloc(uint32_t stream, CohortId cohort, uint64_t bytes, uint64_t time_ns);
  void onFree(uint64_t bytes) { freed_bytes_ += bytes; }
  // A realloc takes the old block's bytes over: it frees nothing, and what follows allocates them anew.
  void onRealloc(uint64_t bytes) { allocated_bytes_ -= std::min(bytes, allocated_bytes_); }

  // The period that goes on now; none where there is none, or where it has no more to do with what happens.
  struct Period {
    CohortId anchor; // whose allocation begins a round
    uint64_t rounds, mean_ns;
  };
  std::optional<Period> period() const;
  uint64_t rounds() const { return rounds_; }

private:
  // So many rounds in a row make a period, and so many of four must be like the one before.
  static constexpr uint64_t kLeastRounds = 8, kAlikeOfFour = 3;
  // Rounds that allocate less are the inner loops of something. A period with so many times as many allocations takes
  // the place of another one.
  static constexpr uint64_t kLeastBytes = 1024;
  static constexpr double kLonger = 2;

  // What the thread allocated until the cohort's last block: sums of hashes, so that the difference of two says what
  // was allocated in between, in any order.
  struct Candidate {
    uint64_t sum = 0, between = 0; // between the last two blocks
    uint64_t first_ns = 0, last_ns = 0;
    uint64_t first_number = 0, last_number = 0; // of the process' allocations, from 1
    uint64_t first_bytes = 0, last_bytes = 0;   // that the thread had allocated
    uint64_t rounds = 0, alike = 0, alike_bytes = 0;
    // An inner loop whose number of rounds differs is regular but for where it ends, and there most is allocated.
    bool isRegular() const {
      return rounds >= kLeastRounds && alike * 4 >= rounds * kAlikeOfFour &&
             alike_bytes * 4 >= (last_bytes - first_bytes) * kAlikeOfFour;
    }
    uint64_t meanNs() const { return rounds == 0 ? 0 : (last_ns - first_ns) / rounds; }
    uint64_t meanBytes() const { return rounds == 0 ? 0 : (last_bytes - first_bytes) / rounds; }
    double meanAllocations() const {
      return rounds == 0 ? 0 : static_cast<double>(last_number - first_number) / static_cast<double>(rounds);
    }
    bool hasPassed(double rounds_more, uint64_t number) const {
      return static_cast<double>(number - last_number) > rounds_more * meanAllocations();
    }
  };
  // The sums of a thread's allocations: hashes of their cohorts, and bytes.
  struct Sum {
    uint64_t hashes = 0, bytes = 0;
  };
  Sum &sumOf(uint32_t stream) {
    if (last_sum_ == nullptr || stream != last_stream_) {
      last_sum_ = &sums_[stream];
      last_stream_ = stream;
    }
    return *last_sum_;
  }
  Step adopt(CohortId cohort, const Candidate &);

  std::vector<Candidate> candidates_;      // by cohort
  std::unordered_map<uint32_t, Sum> sums_; // by thread
  Sum *last_sum_ = nullptr;                // elements stay where they are
  uint32_t last_stream_ = 0;
  CohortId anchor_;
  uint64_t rounds_ = 0; // since the anchor is known
  uint64_t allocations_ = 0;
  uint64_t allocated_bytes_ = 0, freed_bytes_ = 0;         // since then
  uint64_t allocated_in_rounds_ = 0, freed_in_rounds_ = 0; // of them: before the last round began
};

} // namespace msleaks::analysis::inline live
