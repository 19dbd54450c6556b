#include "analysis/stream/event_window.h"

namespace msleaks::analysis::inline stream {

bool isAt(const Moment &moment, const StreamEvent &event, const Labels &labels) {
  const abi::EventKind kind = event.event.header().kind;
  if (const auto *step = std::get_if<StepBegin>(&moment))
    return kind == abi::EventKind::Step && event.event.as<abi::StepEvent>().number == step->number;
  if (const auto *mark = std::get_if<MarkNamed>(&moment))
    return kind == abi::EventKind::Mark &&
           labels.textOf(event.process, event.event.as<abi::MarkEvent>().label) == mark->label;
  return false;
}

Window onClock(Window window, uint64_t start_ns) {
  for (std::optional<Moment> *moment : {&window.from, &window.born_until, &window.to})
    if (*moment && std::holds_alternative<uint64_t>(**moment))
      **moment = std::get<uint64_t>(**moment) + start_ns;
  return window;
}

bool EventWindow::isReached(const Moment &moment, const StreamEvent &event, const Labels &labels) {
  const auto *time_ns = std::get_if<uint64_t>(&moment);
  return time_ns ? event.event.header().time >= *time_ns : isAt(moment, event, labels);
}

// The event that opens the window does not close it, as in Gate.
bool EventWindow::has(const StreamEvent &event, const Labels &labels) {
  if (!is_open_)
    return is_open_ = isReached(*from_, event, labels);
  is_behind_ |= to_ && isReached(*to_, event, labels);
  return !is_behind_;
}

} // namespace msleaks::analysis::inline stream
