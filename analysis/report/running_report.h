// The report of a session. It begins during the session, so that only few events must be read after the session.
//
//   auto running = MSL_TRY(RunningReport::follow(run));
//   while (the session goes on)
//     MSL_TRY(running->advance(some events));
//   auto report = finishRun(run, running.get());
//
// Its memory grows with the numbers of live blocks and of places, never with the number of events.
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
  // `run` is a run folder with a trace.
  static Result<std::unique_ptr<RunningReport>> follow(const std::filesystem::path &run,
                                                       uint64_t checkpoint_events = Checkpoints::kEvents);

  // Reads events that are complete, but stops after `most` events. Returns the number of events.
  Result<uint64_t> advance(uint64_t most = UINT64_MAX) { return trace_->advance(most); }
  // Whether the last advance() stopped before the end.
  bool isBehind() const { return trace_->isBehind(); }
  const RunAnalysis &analysis() const { return analysis_; }
  const FollowedTrace &trace() const { return *trace_; }
  uint64_t liveBlocks() const { return analysis_.pipeline.liveSet().liveBlocks(); }

  // After the session: reads the rest. Returns null if the whole trace differs from what was read before, or if it
  // cannot be followed to its end. Then the trace must be read again.
  RunAnalysis *finish(const TraceReader &, const Progress &);
  bool wasEnough() const { return was_enough_; }
  // Number of events that were read before finish().
  uint64_t earlyEvents() const { return early_events_; }

private:
  explicit RunningReport(uint64_t checkpoint_events) : analysis_(checkpoint_events) {}
  bool sawAllOf(const TraceReader &) const;

  RunAnalysis analysis_;
  std::unique_ptr<FollowedTrace> trace_;
  bool was_enough_ = false;
  uint64_t early_events_ = 0;
};

// Reports the progress of reading a trace. It is called for each event, so it must cost nearly nothing.
class ReadProgress {
public:
  // `progress` must outlive this object. It may be empty.
  ReadProgress(const Progress &progress, uint64_t events) : progress_(progress), events_(events) {}
  void onEvent() {
    if (--until_next_ == 0)
      tell(kEventsBetween);
  }
  // Counts this many events at once, and always reports the progress.
  void onEvents(uint64_t events) { tell(events); }

private:
  static constexpr uint64_t kEventsBetween = 1 << 20;
  void tell(uint64_t more);

  const Progress &progress_;
  uint64_t events_, done_ = 0, until_next_ = kEventsBetween;
};

} // namespace msleaks::analysis::inline report
