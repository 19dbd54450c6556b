// Where events come from, a batch at a time.
#pragma once

#include "analysis/trace/stream_event.h"

#include <span>

namespace msleaks::analysis::trace {

class EventSource {
public:
  virtual ~EventSource() = default;
  // The next events, valid until the next call; empty at the end.
  virtual std::span<const StreamEvent> next() = 0;
};

} // namespace msleaks::analysis::trace
