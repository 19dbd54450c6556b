#include "analysis/watch/live_analysis.h"

#include "analysis/base/machine.h"
#include "analysis/base/text.h"
#include "analysis/collect/running_runs.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline watch {
namespace {

// If there is nothing new, this is how often the manifest is read, to see whether the session still runs.
constexpr uint64_t kAskEachNs = 1'000'000'000;

} // namespace

LiveAnalysis::LiveAnalysis(const RunFolder &folder) : run_(folder.path()), trace_file_(folder.trace()) {}

Result<std::unique_ptr<LiveAnalysis>> LiveAnalysis::open(const std::filesystem::path &run, WatchSource source) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  std::unique_ptr<LiveAnalysis> live(new LiveAnalysis(folder));
  const auto manifest = folder.readManifest();
  const bool goes_on = manifest && manifest->state == "running";
  if (manifest) {
    live->command_ = manifest->command;
    live->start_ns_ = manifest->start_ns;
  }
  if (goes_on && source == WatchSource::Session) {
    live->watcher_.emplace(manifest->session_dir);
    MSL_TRY(live->beginReading(FollowedEvents::None));
    if (live->hearFromSession())
      return live;
    live->watcher_.reset();
  }
  MSL_TRY(live->beginReading(FollowedEvents::All));
  // The trace of an ended session contains the names of calls. Then the binaries are not needed.
  if (manifest && !goes_on) {
    const auto reader = MSL_TRY(TraceReader::open(folder.trace()));
    MSL_TRY(reader.forEachNames([&](const ImageNames &names) { live->reading_->symbolizer.add(names); }));
  }
  return live;
}

Result<void> LiveAnalysis::beginReading(FollowedEvents events) {
  reading_ = std::make_unique<Reading>();
  reading_->trace =
      MSL_TRY(FollowedTrace::open(trace_file_, reading_->catalog, reading_->pipeline, LastEnd::HeldBack, events));
  return {};
}

// Waits for the first sums from msleaks-run. False: there are none.
bool LiveAnalysis::hearFromSession() {
  constexpr uint64_t kLookEachNs = 10'000'000, kPatienceNs = 1'000'000'000;
  for (const uint64_t begin_ns = readMonotonicNs(); readMonotonicNs() - begin_ns < kPatienceNs; sleepNs(kLookEachNs)) {
    if (!watcher_->look())
      return false;
    if (!watcher_->bytes().empty())
      return true;
  }
  return false;
}

Result<uint64_t> LiveAnalysis::advance(uint64_t most) {
  const uint64_t taken = MSL_TRY(reading_->trace->advance(most));
  if (!isBehind())
    lookWhetherItEnded(taken);
  if (!watcher_ || (state_ == WatchState::Running && watcher_->look()))
    return taken;
  // The session has ended, or msleaks-run had no time to publish sums. From now on, the events come from the trace,
  // from its beginning.
  watcher_.reset();
  MSL_TRY(beginReading(FollowedEvents::All));
  state_ = WatchState::Running;
  return advance(most);
}

void LiveAnalysis::setMoment() {
  told_moment_.clear();
  if (!watcher_)
    return reading_->sums.setMoment(reading_->trace->reachedNs());
  told_moment_ = watcher_->bytes();
  told_moment_ns_ = sums().reached_ns;
}

SessionSums LiveAnalysis::sums() {
  SessionSums sums;
  if (watcher_) {
    sums = decodeSums(watcher_->bytes(), reading_->catalog).value_or(SessionSums{});
  } else {
    const LiveSet &live = reading_->pipeline.liveSet();
    const LiveSums &own = reading_->sums;
    sums = {reading_->trace->events(), reading_->trace->reachedNs(),   own.alive(), own.peakBytes(),
            own.peakTimeNs(),          live.timeline().steps().size(), {},          own.sums(live.cohorts())};
    if (sums.steps != 0)
      sums.step = live.timeline().steps().back();
  }
  if (const auto moment = decodeSums(told_moment_, reading_->catalog))
    for (const PlaceSum &then : moment->sums)
      sums.sums.push_back({then.site, then.process, then.heap, {}, then.now, {}});
  return sums;
}

void LiveAnalysis::lookWhetherItEnded(uint64_t taken) {
  if (reading_->trace->closed())
    state_ = WatchState::Ended;
  const uint64_t now_ns = readMonotonicNs();
  const bool goes_on = taken != 0 && asked_ns_ != 0; // the first call always asks, because it may be the only one
  if (state_ != WatchState::Running || goes_on || now_ns - asked_ns_ < kAskEachNs)
    return;
  asked_ns_ = now_ns;
  if (howItStands(run_) == Collecting::GoesOn)
    return;
  // The rest of the trace may have been written since the last look. So it is read before the end is reported.
  state_ = WatchState::Killed;
  reading_->trace->takeRest();
}

// Computes the events per second of the session's own time. A reader that was late does not change this rate.
void LiveAnalysis::measureRate(Frame &frame, uint64_t reached_ns) {
  const uint64_t since_ns = rate_time_ns_ != 0 ? rate_time_ns_ : startNs();
  if (reached_ns > since_ns && frame.events >= rate_events_)
    rate_ = static_cast<double>(frame.events - rate_events_) * 1e9 / static_cast<double>(reached_ns - since_ns);
  else if (!isBehind() && rate_events_ == frame.events)
    rate_ = 0; // nothing was recorded, so the session's time has not moved
  rate_events_ = frame.events;
  rate_time_ns_ = reached_ns;
  frame.events_per_s = rate_;
}

void LiveAnalysis::sumUp(Frame &frame, const std::vector<PlaceSum> &sums) const {
  std::map<uint32_t, BlockSum> by_process;
  std::array<BlockSum, static_cast<size_t>(abi::Heap::Count)> by_heap{};
  for (const PlaceSum &sum : sums) {
    by_heap[static_cast<size_t>(sum.heap)] += sum.now;
    if (abi::isPhysical(sum.heap))
      by_process[sum.process] += sum.now;
  }
  for (size_t heap = 0; heap < by_heap.size(); ++heap)
    if (by_heap[heap].count != 0)
      frame.heaps.push_back({static_cast<abi::Heap>(heap), by_heap[heap]});
  for (const auto &[number, process] : reading_->trace->processes()) {
    const BlockSum sum = by_process[number];
    frame.ended_processes += !process.running;
    if (process.running || sum.count != 0)
      frame.processes.push_back(
          {number, process.start.pid,
           process.start.command.empty() ? std::string() : std::string(baseName(process.start.command.front())),
           process.running, sum});
  }
}

// The time of a session also advances while nothing is recorded.
uint64_t LiveAnalysis::timeOf(const Frame &frame, uint64_t reached_ns) const {
  if (isBehind())
    return reached_ns;
  return std::max(reached_ns, frame.state == WatchState::Running ? readMonotonicNs() : reading_->trace->lastEndNs());
}

Frame LiveAnalysis::frame(Split split, uint64_t naming_ns) {
  SessionSums sums = this->sums();
  Frame frame;
  frame.state = isBehind() ? WatchState::Running : state_;
  frame.behind = isBehind();
  frame.command = command_;
  frame.time_ns = sinceStart(timeOf(frame, sums.reached_ns), startNs());
  frame.moment_ns = sinceStart(told_moment_.empty() ? reading_->sums.momentNs() : told_moment_ns_, startNs());
  frame.events = sums.events;
  measureRate(frame, sums.reached_ns);
  frame.now = sums.alive;
  frame.peak_bytes = sums.peak_bytes;
  frame.peak_time_ns = sinceStart(sums.peak_time_ns, startNs());
  frame.steps = sums.steps;
  frame.step = sums.step;
  sumUp(frame, sums.sums);
  frame.rows = reading_->places.of(std::move(sums.sums), split, naming_ns);
  frame.damage = reading_->trace->damage();
  return frame;
}

} // namespace msleaks::analysis::inline watch
