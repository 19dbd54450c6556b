// An event as a reader of a trace gets it.
#pragma once

#include "msleaks/abi/events.h"

#include <cstdint>

namespace msleaks::analysis {

// One event in the merged order, with the stream it came from. header().time is CLOCK_MONOTONIC in ns.
struct StreamEvent {
  uint32_t process;
  uint32_t stream;
  abi::AnyEvent event;
};

// The times [begin_ns, end_ns). UINT64_MAX: without an end.
struct TimeWindow {
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;
  bool endsBefore(uint64_t time_ns) const { return end_ns != UINT64_MAX && time_ns >= end_ns; }
};

} // namespace msleaks::analysis
