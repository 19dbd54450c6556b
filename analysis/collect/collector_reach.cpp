// Processes that wait at their exit until the collector has read who still points to what.
#include "analysis/collect/collector.h"

#include "analysis/base/clock.h"
#include "analysis/collect/pointer_reading.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kBytesOfRound = 32 << 20; // some 10 ms: then the rings of others are looked at

} // namespace

PointerReading::Subject Collector::subjectOf(const Attached &process, const ArenaReader::Waiting &waiting) const {
  const ProcessCollector &collector = process.collector;
  PointerReading::Subject subject;
  subject.process = collector.process();
  subject.pid = process.pid;
  subject.waiting = {waiting.tid, waiting.stack, waiting.thread_pointer, {}};
  subject.since_ns = waiting.since_ns;
  subject.session = session_.path();
  subject.most_bytes = session_.control().flags.reach_max;
  // What a fork's child inherited, and what was allocated while nothing was recorded, is no block that we know.
  subject.all_blocks = collector.facts().ancestor.pid == 0 && switch_->stored() == 0;
  if (collector.totals().dropped > 0)
    subject.why_not = "events of the process were dropped";
  else if ((switch_->selected() & abi::enabledBit(abi::EventKind::Free)) == 0)
    subject.why_not = "frees were not recorded";
  return subject;
}

Result<bool> Collector::readWaiting() {
  bool reads = false;
  for (const auto &process : attached_) {
    if (!process->reading) {
      const auto waiting = process->life == Life::Running ? process->collector.arena().waiting() : std::nullopt;
      if (!waiting || !process->collector.arena().beginReading())
        continue;
      MSL_TRY(process->collector.lookAtPagesAtExit(output_)); // before its memory is read: that maps pages
      process->reading = std::make_unique<PointerReading>(subjectOf(*process, *waiting));
    }
    reads = true;
    if (MSL_TRY(process->reading->advance(trace_, kBytesOfRound)))
      MSL_TRY(endReading(*process));
  }
  return reads;
}

// The map first: a report finds it before the end of the process.
Result<void> Collector::endReading(Attached &process) {
  const bool waits = process.life == Life::Running && process.collector.arena().isReading();
  auto stored = process.reading->store(trace_, readMonotonicNs(), waits);
  process.reading.reset(); // its threads go on
  process.collector.arena().endReading();
  return stored;
}

} // namespace msleaks::analysis
