#include "analysis/report/out_of_memory.h"

#include "analysis/live/refusals.h"
#include "analysis/report/run_analysis.h"
#include "analysis/report/session_facts.h"
#include "analysis/run/run_folder.h"
#include "analysis/stream/pipeline.h"

#include "alive_blocks.h"
#include "read_progress.h"

#include <map>
#include <utility>

namespace msleaks::analysis {
namespace {

using Fates = std::map<uint32_t, ProcessFate>;

// Sites are the processes' own numbers here: they need only be told apart.
Result<Refusals> refusalsOf(const TraceReader &trace, const Progress &progress) {
  Refusals refusals;
  ReadProgress read(progress, trace.eventCount());
  MSL_TRY(trace.forEachEvent(Reading::Ahead, [&](const StreamEvent &event) {
    read.onEvent();
    const abi::EventHeader &header = event.event.header();
    const SiteId site{header.site};
    if (header.kind == abi::EventKind::AllocFailed && asksForMemory(header.heap)) {
      const auto failed = event.event.as<abi::AllocFailedEvent>();
      const uint8_t device = header.device;
      refusals.refuse({event.process, event.stream, site, header.heap, device},
                      {failed.size, failed.status, header.time});
    } else if (header.kind == abi::EventKind::Alloc && (header.flags & abi::kRestored) == 0) {
      refusals.give(event.process, event.stream, site, header.time);
    }
    return true;
  }));
  return refusals;
}

bool endedBadly(const Fates &fates, uint32_t process) {
  const auto at = fates.find(process);
  return at != fates.end() && (at->second.cause == FreeCause::ProcessKilled || at->second.exit_status > 0);
}

struct Chosen {
  Refusals::Asker asker;
  Refusals::Refusal refusal;
};

// The last one that nothing made up for; one of a process that came to a bad end before those of others.
std::optional<Chosen> chosenOf(const Refusals &refusals, const Fates &fates) {
  std::optional<Chosen> chosen;
  const auto rankOf = [&](const Refusals::Asker &asker, const Refusals::Refusal &refusal) {
    return std::pair(endedBadly(fates, asker.process), refusal.time_ns);
  };
  for (const auto &[asker, sum] : refusals.sums())
    if (sum.isOutOfMemory() && (!chosen || rankOf(asker, sum.last) > rankOf(chosen->asker, chosen->refusal)))
      chosen = {asker, sum.last};
  return chosen;
}

RefusedCall callOf(const Chosen &chosen, const TraceReader &trace) {
  const auto &[asker, refusal] = chosen;
  RefusedCall call{refusal.bytes, refusal.status, asker.heap, asker.device, refusal.time_ns, 0, 0, {}};
  for (const ProcessStart &start : trace.processes())
    if (start.process == asker.process)
      call.pid = start.pid;
  for (const StreamAccount &stream : trace.streams())
    if (stream.process == asker.process && stream.stream == asker.stream)
      call.tid = stream.tid;
  return call;
}

// Memory of the host is a process' own; a device's is everybody's.
bool isOfOneProcess(abi::Heap heap) { return abi::spaceOf(heap) != abi::AddressSpace::Accelerator; }

// The start of the session, from which times of a window count.
uint64_t startOf(const RunFolder &folder, const TraceReader &trace) {
  Report facts;
  describeSession(facts, folder.readManifest().value_or(Manifest{}), trace);
  return facts.start_ns;
}

} // namespace

Result<OutOfMemory> analyzeOutOfMemory(const std::filesystem::path &run, size_t most, const Progress &progress) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  const auto trace = MSL_TRY(TraceReader::open(folder.trace()));
  const Refusals refusals = MSL_TRY(refusalsOf(trace, progress));
  OutOfMemory found;
  for (const auto &[asker, sum] : refusals.sums()) {
    found.refusals += sum.count;
    found.answered += sum.answered;
  }
  ReportQuestion question;
  std::optional<AliveBlocks::Refused> refused;
  if (const auto chosen = chosenOf(refusals, fatesOf(trace))) {
    found.refused = callOf(*chosen, trace);
    refused = {chosen->asker.process, chosen->asker.stream, chosen->asker.heap, chosen->refusal.time_ns};
    const uint64_t start_ns = startOf(folder, trace);
    question.window.to = chosen->refusal.time_ns + 1 - std::min(start_ns, chosen->refusal.time_ns);
    if (isOfOneProcess(chosen->asker.heap))
      question.pid = found.refused->pid;
  }
  Analyzers more;
  more.push_back(std::make_unique<AliveBlocks>(found, most, refused));
  found.report = MSL_TRY(analyzeRun(run, question, progress, std::move(more)));
  return found;
}

} // namespace msleaks::analysis
