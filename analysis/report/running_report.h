// The report of a session, begun while the session goes on: when it has ended, little is left to read.
//
//   auto running = MSL_TRY(RunningReport::follow(run));
//   while (the session goes on)
//     MSL_TRY(running->advance(some events));
//   auto report = finishRun(run, running.get());
//
// Memory grows with what is alive and with the number of places, never with the number of events.
#pragma once

#include "analysis/base/result.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/run_analysis.h"
#include "analysis/result/report.h"
#include "analysis/stream/followed_trace.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace msleaks::analysis::inline report {

class RunningReport {
public:
  // Of a run folder whose trace is there.
  static Result<std::unique_ptr<RunningReport>> follow(const std::filesystem::path &run,
                                                       uint64_t checkpoint_events = Checkpoints::kEvents);

  // Takes in what is complete; stops behind `most` events. Returns how many there were.
  Result<uint64_t> advance(uint64_t most = UINT64_MAX) { return trace_->advance(most); }
  // More was there when the last advance() stopped.
  bool isBehind() const { return trace_->isBehind(); }
  const RunAnalysis &analysis() const { return analysis_; }
  const FollowedTrace &trace() const { return *trace_; }
  uint64_t liveBlocks() const { return analysis_.pipeline.liveSet().liveBlocks(); }

  // After the session: takes in what is left of it. Null when the trace as a whole says something else than its parts
  // did as they came, or cannot be followed to its end: then it must be read again.
  RunAnalysis *finish(const TraceReader &, const Progress &);
  bool wasEnough() const { return was_enough_; }
  // Events that were taken in before the rest.
  uint64_t earlyEvents() const { return early_events_; }

private:
  explicit RunningReport(uint64_t checkpoint_events) : analysis_(checkpoint_events) {}
  bool sawAllOf(const TraceReader &) const;

  RunAnalysis analysis_;
  std::unique_ptr<FollowedTrace> trace_;
  bool was_enough_ = false;
  uint64_t early_events_ = 0;
};

// Says how far the reading of a trace is. Asked for every event, so it must cost nothing.
class ReadProgress {
public:
  // `progress` outlives it, and may be empty.
  ReadProgress(const Progress &progress, uint64_t events) : progress_(progress), events_(events) {}
  void onEvent() {
    if (--until_next_ == 0)
      tell(kEventsBetween);
  }
  // That many at once; tells each time.
  void onEvents(uint64_t events) { tell(events); }

private:
  static constexpr uint64_t kEventsBetween = 1 << 20;
  void tell(uint64_t more);

  const Progress &progress_;
  uint64_t events_, done_ = 0, until_next_ = kEventsBetween;
};

} // namespace msleaks::analysis::inline report
