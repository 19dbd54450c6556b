#include "msleaks/analysis/pipeline.h"

#include <algorithm>
#include <sys/wait.h>

namespace msleaks::analysis {

std::vector<BlockObserver *> Pipeline::observersOf(const std::vector<Analyzer *> &analyzers) {
  return {analyzers.begin(), analyzers.end()};
}

Pipeline::Pipeline(SiteCatalog &catalog, std::vector<Analyzer *> analyzers)
    : catalog_(catalog), analyzers_(std::move(analyzers)), live_(observersOf(analyzers_)) {
  for (Analyzer *analyzer : analyzers_)
    for (unsigned kind = 0; kind < 32; ++kind)
      if (analyzer->eventKinds() & (1u << kind))
        wanted_[kind].push_back(analyzer);
}

void Pipeline::expectEnd(uint32_t process, const ProcessFate &fate) {
  fates_[process] = fate;
  // The image after an exec begins with nothing of the old one's, so that one has no slack.
  const uint64_t slack_ns = fate.cause == FreeCause::ProcessExec ? 0 : kEndSlackNs;
  ends_.emplace(fate.time_ns + std::min(slack_ns, UINT64_MAX - fate.time_ns), process);
  next_end_ns_ = ends_.begin()->first;
}

void Pipeline::tellOldest() {
  const Waiting &oldest = waiting_[told_++ % kAhead];
  const abi::EventHeader &header = oldest.event.event.header();
  if (header.time >= next_end_ns_)
    endProcessesUntil(header.time);
  last_event_ns_ = header.time;
  live_.apply(oldest.event, oldest.site);
  if (!wanted_[static_cast<uint8_t>(header.kind)].empty())
    tellAnalyzers(oldest.event, oldest.site);
}

void Pipeline::drain() {
  while (told_ != taken_)
    tellOldest();
}

void Pipeline::endProcessesUntil(uint64_t time_ns) {
  while (!ends_.empty() && ends_.begin()->first <= time_ns) {
    const uint32_t process = ends_.begin()->second;
    ends_.erase(ends_.begin());
    end(process, fates_[process]);
  }
  next_end_ns_ = ends_.empty() ? UINT64_MAX : ends_.begin()->first;
}

void Pipeline::end(uint32_t process, const ProcessFate &fate) {
  live_.endProcess(process, fate.cause, fate.time_ns);
  for (Analyzer *analyzer : analyzers_)
    analyzer->onProcessEnd(process, fate);
}

void Pipeline::tellAnalyzers(const StreamEvent &event, SiteId site) {
  for (Analyzer *analyzer : wanted_[static_cast<uint8_t>(event.event.header().kind)])
    analyzer->onEvent(event, site);
}

void Pipeline::finish() {
  drain();
  endProcessesUntil(UINT64_MAX);
  // What is left: processes without an end, and those whose events went on after it.
  for (const uint32_t process : live_.processes()) {
    const auto known = fates_.find(process);
    end(process, known != fates_.end() ? known->second : ProcessFate{FreeCause::StillAlive, last_event_ns_, -1});
  }
}

std::map<uint32_t, ProcessFate> fatesOf(const TraceReader &reader) {
  std::map<uint32_t, ProcessFate> fates;
  for (const ProcessEnd &end : reader.processEnds()) {
    ProcessFate &fate = fates[end.process];
    fate = {FreeCause::ProcessExited, end.time_ns, -1};
    if (end.status < 0)
      continue; // ended, and nobody could tell how: most likely in order
    if (WIFSIGNALED(end.status))
      fate = {FreeCause::ProcessKilled, end.time_ns, 128 + WTERMSIG(end.status)};
    else if (WIFEXITED(end.status))
      fate.exit_status = WEXITSTATUS(end.status);
  }
  // No status, and a later image of the same pid before its end: it was replaced, not ended. One that had ended before
  // has only left its number to somebody.
  std::map<uint32_t, std::vector<const ProcessStart *>> images;
  for (const ProcessStart &start : reader.processes())
    images[start.pid].push_back(&start);
  for (auto &[pid, starts] : images) {
    std::sort(starts.begin(), starts.end(), [](const auto *a, const auto *b) { return a->time_ns < b->time_ns; });
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const auto known = fates.find(starts[i]->process);
      const uint64_t next_ns = starts[i + 1]->time_ns;
      if (known == fates.end() || (known->second.cause == FreeCause::ProcessExited && known->second.exit_status < 0 &&
                                   known->second.time_ns >= next_ns))
        fates[starts[i]->process] = {FreeCause::ProcessExec, next_ns, -1};
    }
  }
  return fates;
}

} // namespace msleaks::analysis
