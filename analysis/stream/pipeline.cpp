#include "analysis/stream/pipeline.h"

#include <algorithm>
#include <sys/wait.h>

namespace msleaks::analysis::inline stream {

std::vector<BlockObserver *> Pipeline::observers(Window &&window, Selection &&selection, History history) {
  std::vector<BlockObserver *> all;
  if (history == History::Kept)
    all.push_back(&history_);
  all.insert(all.end(), analyzers_.begin(), analyzers_.end());
  bool peaks_are_used = false;
  for (Analyzer *analyzer : analyzers_)
    peaks_are_used |= analyzer->usePeaks(peaks_);
  if (peaks_are_used) {
    all.push_back(&peaks_); // after the analyzers: see peaks.h
    history_.keepPeaks(peaks_);
  }
  if (window.hasAll() && selection.hasAll())
    return all;
  gate_ = std::make_unique<Gate>(std::move(all), std::move(window), std::move(selection));
  return {gate_.get()};
}

Pipeline::Pipeline(SiteCatalog &catalog, std::vector<Analyzer *> analyzers, Window window, Selection selection,
                   History history)
    : catalog_(catalog), analyzers_(std::move(analyzers)),
      live_(observers(std::move(window), std::move(selection), history)) {
  live_.useLabels(catalog.labels());
  live_.useModules([&catalog](SiteId site) { return !catalog.moduleOf(site).empty(); });
  for (Analyzer *analyzer : analyzers_) {
    analyzer->useCohorts(live_.cohorts(), catalog);
    analyzer->useLiveBlocks(live_);
  }
  for (Analyzer *analyzer : analyzers_)
    for (unsigned kind = 0; kind < wanted_.size(); ++kind)
      if (abi::slotsOf(static_cast<abi::EventKind>(kind)) != 0 &&
          (analyzer->eventKinds() & abi::enabledBit(static_cast<abi::EventKind>(kind))))
        wanted_[kind].push_back(analyzer);
}

void Pipeline::expectEnd(uint32_t process, const ProcessFate &fate) {
  fates_[process] = fate;
  // After an exec, the new image uses nothing of the old image. So the old image's end needs no tolerance.
  const uint64_t slack_ns = fate.cause == FreeCause::ProcessExec ? 0 : kEndSlackNs;
  const uint64_t end_ns = fate.time_ns + std::min(slack_ns, UINT64_MAX - fate.time_ns);
  late_ends_ += end_ns <= last_event_ns_;
  ends_.emplace(end_ns, process);
  setNextEnd();
}

void Pipeline::expectPointers(uint64_t time_ns, ReadPointed read) {
  late_ends_ += time_ns <= last_event_ns_;
  pointers_.emplace(time_ns, std::move(read));
  setNextEnd();
}

void Pipeline::setNextEnd() {
  next_end_ns_ = std::min(ends_.empty() ? UINT64_MAX : ends_.begin()->first,
                          pointers_.empty() ? UINT64_MAX : pointers_.begin()->first);
}

void Pipeline::tellOldest() {
  const Waiting &oldest = waiting_[told_++ % kAhead];
  const abi::EventHeader &header = oldest.event.event.header();
  if (told_ > next_checkpoint_)
    takeCheckpoint(header.time);
  if (gate_)
    passGateUntil(header.time);
  if (header.time >= next_end_ns_ && !isDone())
    endProcessesUntil(header.time);
  if (gate_)
    gate_->look(oldest.event, catalog_.labels(), live_);
  if (isDone())
    return;
  last_event_ns_ = header.time;
  live_.apply(oldest.event, oldest.site);
  if (!wanted_[static_cast<uint8_t>(header.kind)].empty())
    tellAnalyzers(oldest.event, oldest.site);
}

// Takes it after all events until this time and before all later ones, so not between events of one time.
void Pipeline::takeCheckpoint(uint64_t next_event_ns) {
  const uint64_t time_ns = std::max(last_event_ns_, last_end_ns_);
  if (time_ns >= next_event_ns)
    return;
  checkpoints_->take(live_, time_ns, told_ - 1);
  next_checkpoint_ = checkpoints_->next();
}

bool Pipeline::goOnFrom(const Checkpoint &checkpoint) {
  const auto siteOf = [this](SiteNumber number) { return catalog_.find(number.process, number.number); };
  if (!live_.load(checkpoint.time_ns, checkpoint.state, siteOf))
    return false;
  ends_.erase(ends_.begin(), ends_.upper_bound(checkpoint.time_ns));
  pointers_.erase(pointers_.begin(), pointers_.upper_bound(checkpoint.time_ns));
  setNextEnd();
  last_event_ns_ = checkpoint.time_ns;
  for (const abi::EpochEvent &epoch : live_.pauses().epochs())
    tellAnalyzers({kSessionProcess, 0, abi::AnyEvent::from(epoch)}, {});
  return true;
}

// Processes that end before the window begins or ends are ended first.
void Pipeline::passGateUntil(uint64_t time_ns) {
  for (uint64_t next_ns = gate_->nextTime(); next_ns <= time_ns && next_ns != UINT64_MAX; next_ns = gate_->nextTime()) {
    endProcessesUntil(next_ns);
    gate_->pass(next_ns, live_);
  }
}

void Pipeline::drain() {
  while (told_ != taken_)
    tellOldest();
}

void Pipeline::endProcessesUntil(uint64_t time_ns) {
  for (; next_end_ns_ <= time_ns && !(ends_.empty() && pointers_.empty()); setNextEnd()) {
    if (!pointers_.empty() && pointers_.begin()->first == next_end_ns_) {
      if (const auto memory = pointers_.extract(pointers_.begin()).mapped()())
        followPointers(*memory);
      continue;
    }
    const uint32_t process = ends_.begin()->second;
    last_end_ns_ = ends_.begin()->first;
    ends_.erase(ends_.begin());
    end(process, fates_[process]);
  }
}

void Pipeline::followPointers(const PointedMemory &memory) {
  const uint32_t process = memory.map().process;
  if (gate_ && !gate_->tellsProcess(process))
    return;
  std::shared_ptr<const Reachability> reachability;
  for (Analyzer *analyzer : analyzers_) {
    if (!analyzer->wantsReach())
      continue;
    if (!reachability)
      reachability = std::make_shared<const Reachability>(live_, memory);
    analyzer->onReach(process, reachability);
  }
}

void Pipeline::end(uint32_t process, const ProcessFate &fate) {
  live_.endProcess(process, fate.cause, fate.time_ns);
  if (gate_ && !gate_->tellsProcess(process))
    return;
  for (Analyzer *analyzer : analyzers_)
    analyzer->onProcessEnd(process, fate);
}

// Pauses of the recording concern all selections.
void Pipeline::tellAnalyzers(const StreamEvent &event, SiteId site) {
  if (gate_ && !gate_->tells(event) && event.event.header().kind != abi::EventKind::Epoch)
    return;
  for (Analyzer *analyzer : wanted_[static_cast<uint8_t>(event.event.header().kind)])
    analyzer->onEvent(event, site);
}

void Pipeline::finish() {
  drain();
  if (gate_)
    passGateUntil(UINT64_MAX);
  if (isDone()) {
    endProcessesUntil(gate_->closedAt());
    fates_.clear();
    last_event_ns_ = gate_->closedAt();
  } else {
    endProcessesUntil(UINT64_MAX);
  }
  // The other processes have no end, or had events after their end.
  for (const uint32_t process : live_.processes()) {
    const auto known = fates_.find(process);
    end(process, known != fates_.end() ? known->second : ProcessFate{FreeCause::StillAlive, last_event_ns_, -1});
  }
}

ProcessFate fateOf(const ProcessEnd &end) {
  if (end.reason == EndReason::Replaced)
    return {FreeCause::ProcessExec, end.time_ns, -1};
  if (end.reason == EndReason::Running)
    return {FreeCause::StillAlive, end.time_ns, -1};
  if (end.status < 0)
    return {FreeCause::ProcessExited, end.time_ns, -1}; // not known how: probably in order
  if (WIFSIGNALED(end.status))
    return {FreeCause::ProcessKilled, end.time_ns, 128 + WTERMSIG(end.status)};
  return {FreeCause::ProcessExited, end.time_ns, WIFEXITED(end.status) ? WEXITSTATUS(end.status) : -1};
}

// Whether both began with the same exec: then the image contains two copies of the runtime. False if it is not known.
static bool isSameImage(const ProcessStart &a, const ProcessStart &b) {
  return a.exec_id != 0 && a.exec_id == b.exec_id;
}

bool replaces(const ProcessStart &later, const ProcessStart &earlier) {
  return !isSameImage(later, earlier) && !abi::isOtherProcess(later.process_birth, earlier.process_birth);
}

std::map<uint32_t, ProcessFate> fatesOf(const TraceReader &reader) {
  std::map<uint32_t, ProcessFate> fates;
  for (const ProcessEnd &end : reader.processEnds())
    fates[end.process] = fateOf(end);
  // If a later image of the same pid began before the end of an earlier image, it replaced the earlier one by exec.
  // This holds whatever the end's status is. If the earlier image had ended before, only the pid was used again.
  std::map<std::pair<uint64_t, uint32_t>, std::vector<const ProcessStart *>> images;
  for (const ProcessStart &start : reader.processes())
    images[{start.pid_namespace, start.pid}].push_back(&start);
  for (auto &[pid, starts] : images) {
    std::sort(starts.begin(), starts.end(), [](const auto *a, const auto *b) { return a->time_ns < b->time_ns; });
    for (auto earlier = starts.begin(); earlier != starts.end(); ++earlier) {
      const auto later = std::find_if(earlier + 1, starts.end(),
                                      [&](const ProcessStart *start) { return replaces(*start, **earlier); });
      if (later == starts.end())
        continue;
      const auto known = fates.find((*earlier)->process);
      if (known == fates.end() || known->second.time_ns >= (*later)->time_ns)
        fates[(*earlier)->process] = {FreeCause::ProcessExec, (*later)->time_ns, -1};
    }
  }
  return fates;
}

} // namespace msleaks::analysis::inline stream
