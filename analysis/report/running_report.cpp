#include "analysis/report/running_report.h"

#include "analysis/report/read_progress.h"
#include "analysis/run/run_folder.h"

namespace msleaks::analysis {

Result<std::unique_ptr<RunningReport>> RunningReport::follow(const std::filesystem::path &run,
                                                             uint64_t checkpoint_events) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  std::unique_ptr<RunningReport> running(new RunningReport(checkpoint_events));
  running->trace_ =
      MSL_TRY(FollowedTrace::open(folder.trace(), running->analysis_.catalog, running->analysis_.pipeline));
  return running;
}

RunAnalysis *RunningReport::finish(const TraceReader &reader, const Progress &progress) {
  constexpr uint64_t kEventsOfStep = 100'000; // between two looks at the progress
  early_events_ = trace_->events();
  ReadProgress read(progress, reader.eventCount());
  read.onEvents(early_events_);
  do {
    const auto taken = advance(kEventsOfStep);
    if (!taken)
      return nullptr;
    read.onEvents(*taken);
  } while (isBehind());
  was_enough_ = sawAllOf(reader);
  if (!was_enough_)
    return nullptr;
  analysis_.pipeline.finish();
  return &analysis_;
}

bool RunningReport::sawAllOf(const TraceReader &reader) const {
  return trace_->closed() && trace_->inOrder() && trace_->events() == reader.eventCount() && trace_->damage().empty() &&
         reader.damage().empty() && trace_->fates() == fatesOf(reader);
}

} // namespace msleaks::analysis
