// Reads the memory of processes, to find which pointers point to which blocks. A process waits for this at its exit and
// at marks. On demand, a process is held.
#include "analysis/base/machine.h"
#include "analysis/collect/collector.h"
#include "analysis/reach/pointer_reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace msleaks::analysis::inline collect {
namespace {

constexpr uint64_t kBytesOfRound = 32 << 20; // takes some 10 ms, and then other processes' rings are drained
constexpr int kMostHolds = 10;
constexpr size_t kMostLines = 100; // lines of an answer

std::string lineOf(uint32_t pid, const PointerMap &map) {
  const std::string line =
      fmt::format("process {}: stopped for {:.1f} ms, {:.1f} MiB read", pid, static_cast<double>(map.waited_ns) / 1e6,
                  static_cast<double>(map.read_bytes) / 1048576);
  return map.why_not.empty() ? line : line + "; its lost blocks are not known: " + map.why_not;
}

} // namespace

// Returns the subject for a process that does not wait.
PointerReading::Subject Collector::subjectOf(const Attached &process) const {
  const ProcessCollector &collector = process.collector;
  PointerReading::Subject subject;
  subject.process = collector.process();
  subject.pid = process.pid;
  subject.session = session_.path();
  subject.own = collector.arena().ownStorage();
  subject.most_bytes = session_.control().flags.reach_max;
  // The blocks that a fork's child inherited, or that were allocated while nothing was recorded, are not known.
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
      if (waiting->at_exit)
        MSL_TRY(process->collector.lookAtPagesAtExit(output_));
      PointerReading::Subject subject = subjectOf(*process);
      subject.waiting = {.tid = waiting->tid, .stack = waiting->stack, .thread_pointer = waiting->thread_pointer};
      subject.since_ns = waiting->since_ns;
      process->reading = std::make_unique<PointerReading>(std::move(subject));
    }
    reads = true;
    if (MSL_TRY(process->reading->advance(trace_, kBytesOfRound)))
      MSL_TRY(endReading(*process));
  }
  return reads;
}

// The map is stored first, so that a report finds it before the end of the process.
Result<void> Collector::endReading(Attached &process) {
  const bool waits = !process.reading->isAwaited() || process.collector.arena().isReading();
  auto stored = process.reading->store(trace_, readMonotonicNs(), process.life == Life::Running && waits);
  if (!process.reading->isAwaited() && read_on_demand_.size() < kMostLines)
    read_on_demand_.push_back(lineOf(process.collector.facts().pid, process.reading->map()));
  process.reading.reset(); // lets the threads of the process continue
  process.collector.arena().endReading();
  return stored;
}

// Null: the process has ended.
Collector::Attached *Collector::running(uint32_t number) const {
  for (const auto &process : attached_)
    if (process->collector.process() == number && process->life == Life::Running)
      return process.get();
  return nullptr;
}

// Holds the process. Repeats this if a thread stays in the middle of an allocation, because its ring may have been
// full.
Result<void> Collector::hold(uint32_t number) {
  for (int left = kMostHolds; left > 0; --left) {
    Attached *process = running(number);
    if (process == nullptr || process->reading) // with a reading, it waits by itself
      return {};
    process->reading = std::make_unique<PointerReading>(subjectOf(*process));
    if (!process->reading->isUnsettled() || left == 1)
      return {};
    process->reading.reset();
    MSL_TRY(round(Urgency::Everything));
  }
  return {};
}

// Reads every running process, one after the other. Each is held only while its own memory is read.
Result<ControlAnswer> Collector::reachNow() {
  std::vector<uint32_t> numbers; // processes may end meanwhile
  for (const auto &process : attached_)
    numbers.push_back(process->collector.process());
  read_on_demand_.clear();
  for (const uint32_t number : numbers) {
    MSL_TRY(hold(number));
    for (reading_ = true; reading_;)
      MSL_TRY(round(Urgency::Batch));
  }
  MSL_TRY(snapshot());
  return ControlAnswer{ExitStatus::Clean, fmt::format("{}", fmt::join(read_on_demand_, "\n"))};
}

} // namespace msleaks::analysis::inline collect
