#include "analysis/report/running_report.h"

#include "analysis/base/run_folder.h"
#include "analysis/report/analyze_run.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline report {

Result<std::unique_ptr<RunningReport>> RunningReport::follow(const std::filesystem::path &run,
                                                             uint64_t checkpoint_events) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  std::unique_ptr<RunningReport> running(new RunningReport(checkpoint_events));
  running->trace_ =
      MSL_TRY(FollowedTrace::open(folder.trace(), running->analysis_.catalog, running->analysis_.pipeline));
  return running;
}

RunAnalysis *RunningReport::finish(const TraceReader &reader, const Progress &progress) {
  constexpr uint64_t kEventsOfStep = 100'000; // between two reports of the progress
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

void ReadProgress::tell(uint64_t more) {
  done_ += more;
  until_next_ = kEventsBetween;
  if (progress_)
    progress_(fmt::format("reading {:.0f}%",
                          100.0 * static_cast<double>(done_) / static_cast<double>(std::max(done_, events_))));
}

} // namespace msleaks::analysis::inline report
