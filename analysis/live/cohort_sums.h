// Sums over blocks, which analyzers store for each cohort.
#pragma once

#include "analysis/live/cohorts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline live {

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

// Bytes times the nanoseconds that they were alive. It is an integer, so a sum does not depend on the order of its
// blocks.
__extension__ using ByteNs = __int128;
inline ByteNs byteNsOf(uint64_t bytes, uint64_t ns) { return static_cast<ByteNs>(bytes) * static_cast<ByteNs>(ns); }
inline double byteSecondsOf(ByteNs sum) { return static_cast<double>(sum) * 1e-9; }

struct CohortShare {
  CohortId cohort;
  uint64_t bytes = 0, count = 0;
  bool operator==(const CohortShare &) const = default;
};

// The blocks of one heap that were alive when their process ended.
struct Remains {
  abi::Heap heap = abi::Heap::Host;
  uint64_t bytes = 0, count = 0;
  uint64_t largest_bytes = 0;
  uint64_t oldest_age_ns = 0, newest_age_ns = UINT64_MAX; // at the end of their process
  ByteNs byte_ns = 0;                                     // sum of bytes times age

  // Adds the blocks of another object.
  Remains &operator+=(const Remains &other) {
    bytes += other.bytes;
    count += other.count;
    largest_bytes = std::max(largest_bytes, other.largest_bytes);
    oldest_age_ns = std::max(oldest_age_ns, other.oldest_age_ns);
    newest_age_ns = std::min(newest_age_ns, other.newest_age_ns);
    byte_ns += other.byte_ns;
    return *this;
  }
};
struct CohortRemains : Remains {
  CohortId cohort;
};

} // namespace msleaks::analysis::inline live
