// Sums over blocks that analyzers keep by cohort.
#pragma once

#include "analysis/live/cohorts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msleaks::analysis {

// A sum over blocks.
struct BlockSum {
  uint64_t bytes = 0, count = 0;
  BlockSum &operator+=(const BlockSum &other) {
    bytes += other.bytes;
    count += other.count;
    return *this;
  }
  bool operator==(const BlockSum &) const = default;
};

struct CohortShare {
  CohortId cohort;
  uint64_t bytes = 0, count = 0;
  bool operator==(const CohortShare &) const = default;
};

// Blocks of one heap that were alive at the end of their process.
struct Remains {
  abi::Heap heap = abi::Heap::Host;
  uint64_t bytes = 0, count = 0;
  uint64_t largest_bytes = 0;
  uint64_t oldest_age_ns = 0, newest_age_ns = UINT64_MAX; // at the end of their process
  double byte_seconds = 0;                                // bytes times age

  // The blocks of another one, with them.
  Remains &operator+=(const Remains &other) {
    bytes += other.bytes;
    count += other.count;
    largest_bytes = std::max(largest_bytes, other.largest_bytes);
    oldest_age_ns = std::max(oldest_age_ns, other.oldest_age_ns);
    newest_age_ns = std::min(newest_age_ns, other.newest_age_ns);
    byte_seconds += other.byte_seconds;
    return *this;
  }
};
struct CohortRemains : Remains {
  CohortId cohort;
};

} // namespace msleaks::analysis
