// Where events come from, a batch at a time.
#pragma once

#include "msleaks/abi/events.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace msleaks::analysis::inline trace {

// One number for a thread, or for any other number of a process.
constexpr uint64_t keyOfThread(uint32_t process, uint32_t stream) { return uint64_t{process} << 32 | stream; }

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

class EventSource {
public:
  virtual ~EventSource() = default;
  // The next events, valid until the next call; empty at the end.
  virtual std::span<const StreamEvent> next() = 0;
};

// The events of a trace in their merged order, pulled a batch at a time.
// Of one reader there may be several, in several threads. It must not outlive its reader; that one may be moved.
class EventCursor {
public:
  explicit EventCursor(std::unique_ptr<EventSource> source) : source_(std::move(source)) {}
  // The next events, valid until the next call; empty at the end. How many they are is the cursor's choice.
  std::span<const StreamEvent> next() { return source_->next(); }

private:
  std::unique_ptr<EventSource> source_;
};

} // namespace msleaks::analysis::inline trace
