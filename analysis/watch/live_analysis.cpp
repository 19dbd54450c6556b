#include "analysis/watch/live_analysis.h"

#include "analysis/base/base_name.h"
#include "analysis/base/clock.h"
#include "analysis/collect/running_runs.h"
#include "analysis/run/run_folder.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis {
namespace {

// Where nothing new comes, it is looked so often whether the session goes on: that reads its manifest.
constexpr uint64_t kAskEachNs = 1'000'000'000;

} // namespace

LiveAnalysis::LiveAnalysis(std::filesystem::path run) : run_(std::move(run)) {}

Result<std::unique_ptr<LiveAnalysis>> LiveAnalysis::open(const std::filesystem::path &run) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  std::unique_ptr<LiveAnalysis> live(new LiveAnalysis(folder.path()));
  const auto manifest = folder.readManifest();
  if (manifest) {
    live->command_ = manifest->command;
    live->start_ns_ = manifest->start_ns;
  }
  // The names of calls are written at the end; then the binaries need not be there.
  if (manifest && manifest->state != "running") {
    const auto reader = MSL_TRY(TraceReader::open(folder.trace()));
    MSL_TRY(reader.forEachNames([&](const ImageNames &names) { live->symbolizer_.add(names); }));
  }
  live->follower_ = MSL_TRY(TraceFollower::open(folder.trace(), live->listener()));
  return live;
}

TraceListener LiveAnalysis::listener() {
  TraceListener listener;
  listener.start = [this](const ProcessStart &start) { onStart(start); };
  listener.end = [this](const ProcessEnd &end) { onEnd(end); };
  listener.definitions = [this](uint32_t process, auto records) { catalog_.addDefinitions(process, records); };
  listener.callers = [this](uint32_t process, auto entries) { catalog_.addCallers(process, entries); };
  listener.paths = [this](uint32_t process, auto entries) { catalog_.addPaths(process, entries); };
  return listener;
}

void LiveAnalysis::onStart(const ProcessStart &start) {
  if (start_ns_ == 0)
    start_ns_ = start.time_ns;
  catalog_.addProcess(start);
  pipeline_.setPageBytes(start.process, start.page_bytes);
  std::vector<uint32_t> replaced;
  for (const uint32_t number : running_)
    if (const ProcessStart &earlier = processes_.at(number).start; earlier.pid == start.pid &&
                                                                   earlier.pid_namespace == start.pid_namespace &&
                                                                   number != start.process && replaces(start, earlier))
      replaced.push_back(number);
  running_.insert(start.process);
  processes_[start.process] = {start, true};
  for (const uint32_t number : replaced)
    end(number, {FreeCause::ProcessExec, start.time_ns, -1});
  if (held_back_)
    pipeline_.expectEnd(held_back_->first, held_back_->second);
  held_back_.reset();
}

void LiveAnalysis::onEnd(const ProcessEnd &ended) {
  last_end_ns_ = std::max(last_end_ns_, ended.time_ns);
  if (running_.contains(ended.process))
    end(ended.process, fateOf(ended));
}

void LiveAnalysis::end(uint32_t process, const ProcessFate &fate) {
  running_.erase(process);
  processes_.at(process).running = false;
  if (running_.empty())
    held_back_ = {process, fate};
  else
    pipeline_.expectEnd(process, fate);
}

Result<uint64_t> LiveAnalysis::advance(uint64_t most) {
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
  // Behind the mark that was read last nothing earlier comes; events of a batch that is not all taken do.
  if (!behind_) {
    complete_ns_ = follower_->completeUntil();
    pipeline_.passTime(reachedNs());
  }
  if (!behind_)
    lookWhetherItEnded(taken);
  return taken;
}

void LiveAnalysis::lookWhetherItEnded(uint64_t taken) {
  if (follower_->closed())
    state_ = WatchState::Ended;
  const uint64_t now_ns = readMonotonicNs();
  const bool goes_on = taken != 0 && asked_ns_ != 0; // a first look may be the only one
  if (state_ != WatchState::Running || goes_on || now_ns - asked_ns_ < kAskEachNs)
    return;
  asked_ns_ = now_ns;
  if (howItStands(run_) == Collecting::GoesOn)
    return;
  // Whoever ended it may have written the rest since we looked: that is taken in before the end is said.
  state_ = WatchState::Killed;
  follower_->takeRest();
  behind_ = true;
}

// Events by the session's own time: a reader that was away for a while does not make them faster.
void LiveAnalysis::measureRate(Frame &frame) {
  const uint64_t reached_ns = reachedNs();
  const uint64_t since_ns = rate_time_ns_ != 0 ? rate_time_ns_ : start_ns_;
  if (reached_ns > since_ns)
    rate_ = static_cast<double>(events_ - rate_events_) * 1e9 / static_cast<double>(reached_ns - since_ns);
  else if (!behind_ && rate_events_ == events_)
    rate_ = 0; // nothing was recorded: its time stands still
  rate_events_ = events_;
  rate_time_ns_ = reached_ns;
  frame.events_per_s = rate_;
}

void LiveAnalysis::sumUp(Frame &frame) const {
  std::map<uint32_t, BlockSum> by_process;
  std::array<BlockSum, static_cast<size_t>(abi::Heap::Count)> by_heap{};
  const Cohorts &cohorts = pipeline_.liveSet().cohorts();
  const std::vector<BlockSum> &now = sums_.now();
  for (uint32_t index = 1; index < cohorts.size() && index < now.size(); ++index) {
    const Cohort &cohort = cohorts[{index}];
    by_heap[static_cast<size_t>(cohort.heap)] += now[index];
    if (abi::isPhysical(cohort.heap))
      by_process[cohort.process] += now[index];
  }
  for (size_t heap = 0; heap < by_heap.size(); ++heap)
    if (by_heap[heap].count != 0)
      frame.heaps.push_back({static_cast<abi::Heap>(heap), by_heap[heap]});
  for (const auto &[number, process] : processes_) {
    const BlockSum sum = by_process[number];
    frame.ended_processes += !process.running;
    if (process.running || sum.count != 0)
      frame.processes.push_back(
          {number, process.start.pid,
           process.start.command.empty() ? std::string() : std::string(baseName(process.start.command.front())),
           process.running, sum});
  }
}

// A session that is silent gets older all the same.
uint64_t LiveAnalysis::timeOf(const Frame &frame) const {
  if (frame.state == WatchState::Running && !behind_)
    return std::max(reachedNs(), readMonotonicNs());
  return behind_ ? reachedNs() : std::max(reachedNs(), last_end_ns_);
}

Frame LiveAnalysis::frame(Split split, uint64_t naming_ns) {
  Frame frame;
  frame.state = behind_ ? WatchState::Running : state_;
  frame.behind = behind_;
  frame.command = command_;
  frame.time_ns = sinceStart(timeOf(frame));
  frame.moment_ns = sinceStart(sums_.momentNs());
  frame.events = events_;
  measureRate(frame);
  frame.now = sums_.alive();
  frame.peak_bytes = sums_.peakBytes();
  frame.peak_time_ns = sinceStart(sums_.peakTimeNs());
  const auto &steps = pipeline_.liveSet().timeline().steps();
  frame.steps = steps.size();
  if (!steps.empty())
    frame.step = steps.back();
  sumUp(frame);
  frame.rows = places_.of(sums_, pipeline_.liveSet().cohorts(), split, naming_ns);
  frame.damage = follower_->damage();
  return frame;
}

} // namespace msleaks::analysis
