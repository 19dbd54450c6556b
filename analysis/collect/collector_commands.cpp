// Handles the commands of `msleaks ctl` to a running collector, and the signal that toggles the recording.
#include "analysis/base/event_names.h"
#include "analysis/base/machine.h"
#include "analysis/collect/collector.h"
#include "analysis/collect/session_settings.h"
#include "analysis/collect/session_status.h"
#include "analysis/collect/unseen.h"

#include <fmt/format.h>

namespace msleaks::analysis::inline collect {
namespace {

ControlAnswer refusal(const Error &error) { return {error.status, error.message}; }

} // namespace

// Returns an error only if the recording must end. All other errors are answers to the caller of `msleaks ctl`.
Result<void> Collector::serve() {
  if (toggles_.exchange(0, std::memory_order_relaxed) % 2 != 0)
    MSL_TRY(switch_->recording() ? switch_->stop(trace_) : switch_->start(trace_));
  if (!socket_)
    return {};
  for (const ControlRequest &request : socket_->wait(0)) {
    auto answer = obey(request.text);
    request.answer(answer ? *answer : ControlAnswer{ExitStatus::OwnFault, answer.error().message});
    if (!answer)
      return tl::make_unexpected(answer.error());
  }
  return {};
}

Result<ControlAnswer> Collector::obey(const std::string &text) {
  const size_t space = text.find(' ');
  const std::string word = text.substr(0, space), rest = space == std::string::npos ? "" : text.substr(space + 1);
  const auto done = [](const Result<void> &result) -> Result<ControlAnswer> {
    if (!result)
      return tl::make_unexpected(result.error());
    return ControlAnswer{};
  };
  if (word == "start")
    return done(switch_->start(trace_));
  if (word == "stop")
    return done(switch_->stop(trace_));
  if (word == "snapshot")
    return done(snapshot());
  if (word == "reach")
    return reachNow();
  if (word == "status")
    return ControlAnswer{ExitStatus::Clean, status()};
  if (word == "set")
    return set(rest);
  return ControlAnswer{ExitStatus::Usage, fmt::format("{}: the collector knows no such command", word)};
}

Result<ControlAnswer> Collector::set(const std::string &assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    return ControlAnswer{ExitStatus::Usage, fmt::format("'{}': write NAME=VALUE", assignment)};
  const std::string name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  abi::ControlPage &control = session_.control();
  uint32_t kinds = control.selected.load(std::memory_order_relaxed);
  if (name == "events") {
    const auto named = eventBits("events", value);
    if (!named)
      return ControlAnswer{ExitStatus::Usage, named.error().message};
    kinds = *named | (kinds & abi::kKernelEvidence);
  } else if (const auto changed = changeSetting(control, name, value); !changed) {
    return refusal(changed.error());
  }
  MSL_TRY(switch_->select(trace_, abi::enabledFor(kinds, control.flags.call_stack)));
  return ControlAnswer{};
}

// Stores what a report reads: all events so far, their definitions, and the accounts up to now.
Result<void> Collector::snapshot() {
  MSL_TRY(round(Urgency::Everything));
  for (const auto &process : attached_)
    MSL_TRY(process->collector.storeSnapshot(output_));
  return trace_.streamAccount(sessionAccount(readUnseen(session_).dropped, switch_->stored()));
}

std::string Collector::status() {
  return jsonOf({switch_->recording() ? "recording" : "paused", next_process_ - 1, totalsNow(), switch_->sinceNs()});
}

} // namespace msleaks::analysis::inline collect
