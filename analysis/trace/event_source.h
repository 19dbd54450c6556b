// The interface of a source of events, which returns a batch at a time.
#pragma once

#include "msleaks/abi/events.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace msleaks::analysis::inline trace {

// Packs a process and one of its threads, or another number of the process, into one number.
constexpr uint64_t keyOfThread(uint32_t process, uint32_t stream) { return uint64_t{process} << 32 | stream; }

// One event in the merged order, and its stream. header().time is CLOCK_MONOTONIC in ns.
struct StreamEvent {
  uint32_t process;
  uint32_t stream;
  abi::AnyEvent event;
};

// The times in [begin_ns, end_ns). If end_ns is UINT64_MAX, the window has no end.
struct TimeWindow {
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;
  bool endsBefore(uint64_t time_ns) const { return end_ns != UINT64_MAX && time_ns >= end_ns; }
};

class EventSource {
public:
  virtual ~EventSource() = default;
  // Returns the next events, valid until the next call. The result is empty at the end.
  virtual std::span<const StreamEvent> next() = 0;
};

// Returns the events of a trace in their merged order, a batch at a time.
// A reader may have several cursors, also in several threads. A cursor must not outlive its reader, which may be moved.
class EventCursor {
public:
  explicit EventCursor(std::unique_ptr<EventSource> source) : source_(std::move(source)) {}
  // Returns the next events, as many as the cursor chooses, valid until the next call. The result is empty at the end.
  std::span<const StreamEvent> next() { return source_->next(); }

private:
  std::unique_ptr<EventSource> source_;
};

} // namespace msleaks::analysis::inline trace
