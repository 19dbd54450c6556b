// The events of a trace in their merged order, pulled a batch at a time.
#pragma once

#include "analysis/trace/event_source.h"

#include <memory>
#include <span>
#include <utility>

namespace msleaks::analysis {

// Of one reader there may be several, in several threads. It must not outlive its reader; that one may be moved.
class EventCursor {
public:
  explicit EventCursor(std::unique_ptr<trace::EventSource> source) : source_(std::move(source)) {}
  // The next events, valid until the next call; empty at the end. How many they are is the cursor's choice.
  std::span<const StreamEvent> next() { return source_->next(); }

private:
  std::unique_ptr<trace::EventSource> source_;
};

} // namespace msleaks::analysis
