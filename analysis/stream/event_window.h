// Chooses the events of a window, without the blocks. Gate does the same for the blocks.
#pragma once

#include "analysis/stream/selection.h"

#include <cstdint>

namespace msleaks::analysis::inline stream {

// Whether the step or mark of the moment begins with this event. False for a time.
bool isAt(const Moment &, const StreamEvent &, const Labels &);

// Converts times of the window, which are times since the start, to times of the clock.
Window onClock(Window, uint64_t start_ns);

class EventWindow {
public:
  explicit EventWindow(const Window &window) : from_(window.from), to_(window.to), is_open_(!from_) {}

  // Events before and after these times are outside of the window, so a reader may leave them out.
  uint64_t firstNs() const { return timeOr(from_, 0); }
  uint64_t endNs() const { return timeOr(to_, UINT64_MAX); }
  // Call it for each event, in the order of time. Returns whether the event is in the window.
  bool has(const StreamEvent &, const Labels &);
  // Whether all later events are outside.
  bool isBehind() const { return is_behind_; }
  // Whether a step or mark has not come yet.
  bool waitsForStepOrMark() const {
    return (!is_open_ && !isTime(from_)) || (!is_behind_ && to_.has_value() && !isTime(to_));
  }

private:
  static bool isTime(const std::optional<Moment> &moment) {
    return moment && std::holds_alternative<uint64_t>(*moment);
  }
  static uint64_t timeOr(const std::optional<Moment> &moment, uint64_t otherwise) {
    return isTime(moment) ? std::get<uint64_t>(*moment) : otherwise;
  }
  static bool isReached(const Moment &, const StreamEvent &, const Labels &);

  std::optional<Moment> from_, to_;
  bool is_open_, is_behind_ = false;
};

} // namespace msleaks::analysis::inline stream
