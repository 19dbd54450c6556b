// The time of a moment within its session. Reports and formats count this time.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline base {

// Returns the ns from the start of the session to `time_ns`, or 0 for an earlier moment. Both are CLOCK_MONOTONIC.
constexpr uint64_t sinceStart(uint64_t time_ns, uint64_t start_ns) {
  return time_ns > start_ns ? time_ns - start_ns : 0;
}

} // namespace msleaks::analysis::inline base
