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
  live->trace_ = MSL_TRY(FollowedTrace::open(folder.trace(), live->catalog_, live->pipeline_, LastEnd::HeldBack));
  return live;
}

Result<uint64_t> LiveAnalysis::advance(uint64_t most) {
  const uint64_t taken = MSL_TRY(trace_->advance(most));
  if (!isBehind())
    lookWhetherItEnded(taken);
  return taken;
}

void LiveAnalysis::lookWhetherItEnded(uint64_t taken) {
  if (trace_->closed())
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
  trace_->takeRest();
}

// Events by the session's own time: a reader that was away for a while does not make them faster.
void LiveAnalysis::measureRate(Frame &frame) {
  const uint64_t reached_ns = trace_->reachedNs(), events = trace_->events();
  const uint64_t since_ns = rate_time_ns_ != 0 ? rate_time_ns_ : startNs();
  if (reached_ns > since_ns)
    rate_ = static_cast<double>(events - rate_events_) * 1e9 / static_cast<double>(reached_ns - since_ns);
  else if (!isBehind() && rate_events_ == events)
    rate_ = 0; // nothing was recorded: its time stands still
  rate_events_ = events;
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
  for (const auto &[number, process] : trace_->processes()) {
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
  const uint64_t reached_ns = trace_->reachedNs();
  if (isBehind())
    return reached_ns;
  return std::max(reached_ns, frame.state == WatchState::Running ? readMonotonicNs() : trace_->lastEndNs());
}

Frame LiveAnalysis::frame(Split split, uint64_t naming_ns) {
  Frame frame;
  frame.state = isBehind() ? WatchState::Running : state_;
  frame.behind = isBehind();
  frame.command = command_;
  frame.time_ns = sinceStart(timeOf(frame));
  frame.moment_ns = sinceStart(sums_.momentNs());
  frame.events = trace_->events();
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
  frame.damage = trace_->damage();
  return frame;
}

} // namespace msleaks::analysis
