#include "analysis/stream/followed_trace.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline stream {

Result<std::unique_ptr<FollowedTrace>> FollowedTrace::open(const std::filesystem::path &trace, SiteCatalog &catalog,
                                                           Pipeline &pipeline, LastEnd last_end,
                                                           FollowedEvents events) {
  std::unique_ptr<FollowedTrace> followed(new FollowedTrace(catalog, pipeline, last_end));
  followed->follower_ = MSL_TRY(TraceFollower::open(trace, followed->listener(), events));
  return followed;
}

TraceListener FollowedTrace::listener() {
  TraceListener listener;
  listener.start = [this](const ProcessStart &start) { onStart(start); };
  listener.end = [this](const ProcessEnd &end) { onEnd(end); };
  listener.definitions = [this](uint32_t process, auto records) { catalog_.addDefinitions(process, records); };
  listener.callers = [this](uint32_t process, auto entries) { catalog_.addCallers(process, entries); };
  listener.paths = [this](uint32_t process, auto entries) { catalog_.addPaths(process, entries); };
  listener.pointed_memory = [this](auto memory) {
    const uint64_t time_ns = memory->map().time_ns;
    pipeline_.expectPointers(time_ns, [memory = std::move(memory)] { return memory; });
  };
  return listener;
}

void FollowedTrace::onStart(const ProcessStart &start) {
  if (first_start_ns_ == 0)
    first_start_ns_ = start.time_ns;
  catalog_.addProcess(start);
  pipeline_.setPageBytes(start.process, start.page_bytes);
  const std::vector<uint32_t> replaced = replacedBy(start);
  running_.insert(start.process);
  processes_[start.process] = {start, true};
  for (const uint32_t number : replaced)
    end(number, {FreeCause::ProcessExec, start.time_ns, -1});
  if (held_back_)
    tellEnd(held_back_->first, held_back_->second);
  held_back_.reset();
}

std::vector<uint32_t> FollowedTrace::replacedBy(const ProcessStart &later) const {
  std::vector<uint32_t> replaced;
  for (const uint32_t number : running_)
    if (const ProcessStart &earlier = processes_.at(number).start; earlier.pid == later.pid &&
                                                                   earlier.pid_namespace == later.pid_namespace &&
                                                                   number != later.process && replaces(later, earlier))
      replaced.push_back(number);
  return replaced;
}

void FollowedTrace::onEnd(const ProcessEnd &ended) {
  last_end_ns_ = std::max(last_end_ns_, ended.time_ns);
  if (running_.contains(ended.process))
    end(ended.process, fateOf(ended));
}

void FollowedTrace::end(uint32_t process, const ProcessFate &fate) {
  running_.erase(process);
  processes_.at(process).running = false;
  if (running_.empty() && last_end_ == LastEnd::HeldBack)
    held_back_ = {process, fate};
  else
    tellEnd(process, fate);
}

void FollowedTrace::tellEnd(uint32_t process, const ProcessFate &fate) {
  fates_[process] = fate;
  pipeline_.expectEnd(process, fate);
}

void FollowedTrace::takeRest() {
  follower_->takeRest();
  behind_ = true;
}

Result<uint64_t> FollowedTrace::advance(uint64_t most) {
  uint64_t taken = 0;
  for (behind_ = true; behind_ && taken < most;) {
    const auto events = MSL_TRY(follower_->next());
    for (const StreamEvent &event : events)
      pipeline_.apply(event);
    if (!events.empty())
      last_event_ns_ = std::max(last_event_ns_, events.back().event.header().time);
    taken += events.size();
    behind_ = !events.empty();
  }
  pipeline_.drain();
  events_ += taken;
  // After the last mark, no earlier event follows. But a batch that is only partly read may contain earlier events.
  if (!behind_) {
    complete_ns_ = follower_->completeUntil();
    pipeline_.passTime(reachedNs());
  }
  return taken;
}

} // namespace msleaks::analysis::inline stream
