// Finds the rounds of a program that does not report its steps. A place that allocates once in each round marks the
// rounds, if its thread allocates the same in between in each round.
//
// Finds the rounds of one process. Its memory grows with the number of cohorts. Each allocation takes the same time. It
// reports times, but does not compare them, so the same allocations have the same rounds on every machine.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/cohorts.h"

#include <algorithm>
#include <bit>
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
    Begins, // another round of the known period begins
    First,  // the first round of a new period, of which the old period is a part
  };

  // The thread allocates a block of this cohort. Each cohort belongs to one thread.
  Step onAlloc(uint32_t stream, CohortId cohort, uint64_t bytes, uint64_t time_ns);
  void onFree(uint64_t bytes) { freed_bytes_ += bytes; }
  // A realloc keeps the old block's bytes: it frees nothing, and its allocation counts the bytes again.
  void onRealloc(uint64_t bytes) { allocated_bytes_ -= std::min(bytes, allocated_bytes_); }

  // The present period. None if there is none, or if the program no longer follows it.
  struct Period {
    CohortId anchor; // its allocation begins a round
    uint64_t rounds, mean_ns;
  };
  std::optional<Period> period() const;
  uint64_t rounds() const { return rounds_; }

private:
  // A period needs this many rounds. Of four rounds, this many must be like the round before.
  static constexpr uint64_t kLeastRounds = 8, kAlikeOfFour = 3;
  // Rounds with fewer bytes are probably inner loops. A period with this many times as many allocations replaces the
  // known one.
  static constexpr uint64_t kLeastBytes = 1024;
  static constexpr double kLonger = 2;

  // The thread's allocations until the cohort's last block, as sums of hashes. The difference of two sums tells what
  // was allocated in between, in any order.
  struct Candidate {
    uint64_t sum = 0, between = 0; // between: what came between the last two blocks
    uint64_t usual = 0;            // what came in the last round that was alike; 0 = there is none yet
    uint64_t first_ns = 0, last_ns = 0;
    uint64_t first_number = 0, last_number = 0; // in the process' allocations, from 1
    uint64_t first_bytes = 0, last_bytes = 0;   // bytes that the thread had allocated
    uint64_t rounds = 0, alike = 0, alike_bytes = 0;
    uint64_t bursts = 0; // rounds that are not alike, and have more than twice the mean bytes of those that are
    // Bytes count, too: in an inner loop most rounds are alike, but the bytes may be in the other rounds, at its end.
    // A few bursts are allowed: an arena or a table that doubles its size grows in few rounds, by many bytes.
    bool isRegular() const {
      const bool are_bytes_alike = alike_bytes * 4 >= (last_bytes - first_bytes) * kAlikeOfFour;
      return rounds >= kLeastRounds && alike * 4 >= rounds * kAlikeOfFour &&
             (are_bytes_alike || bursts <= static_cast<uint64_t>(std::bit_width(rounds)));
    }
    uint64_t meanNs() const { return rounds == 0 ? 0 : (last_ns - first_ns) / rounds; }
    uint64_t meanBytes() const { return rounds == 0 ? 0 : (last_bytes - first_bytes) / rounds; }
    double meanAllocations() const {
      return rounds == 0 ? 0 : static_cast<double>(last_number - first_number) / static_cast<double>(rounds);
    }
    bool hasPassed(double rounds_more, uint64_t number) const {
      return static_cast<double>(number - last_number) > rounds_more * meanAllocations();
    }
    // Whether the program has left the period: after the last round, it allocates more than a program does at its end.
    bool isOver(uint64_t number) const {
      constexpr uint64_t kEndOneIn = 25;
      return hasPassed(0.5 * kLeastRounds, number) && (number - last_number) * kEndOneIn > last_number - first_number;
    }
  };
  // Sums over a thread's allocations: hashes of their cohorts, and bytes.
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
  Sum *last_sum_ = nullptr;                // elements of the map do not move
  uint32_t last_stream_ = 0;
  CohortId anchor_;
  uint64_t rounds_ = 0; // since the anchor is known
  uint64_t allocations_ = 0;
  uint64_t allocated_bytes_ = 0, freed_bytes_ = 0;         // since then
  uint64_t allocated_in_rounds_ = 0, freed_in_rounds_ = 0; // those of them before the last round began
};

} // namespace msleaks::analysis::inline live
