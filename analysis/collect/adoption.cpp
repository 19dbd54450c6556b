#include "analysis/collect/adoption.h"

#include "analysis/base/program.h"
#include "analysis/base/run_folder.h"
#include "analysis/collect/collector.h"
#include "analysis/collect/session_status.h"
#include "analysis/collect/stored_session.h"

#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace msleaks::analysis::inline collect {
namespace {

constexpr uint64_t kLookForStopNs = 50'000'000;

Result<SessionDir> takeOver(const std::filesystem::path &run) {
  const auto directory = MSL_TRY(runningSession(run));
  auto session = SessionDir::adopt(directory);
  if (!session)
    return session;
  if (session->control().state.load(std::memory_order_acquire) != abi::SessionState::Open)
    return fail(
        fmt::format("{}: its collector stopped the recording before it ended; `msleaks recover` stores what is left",
                    run.string()),
        ExitStatus::OwnFault);
  return session;
}

// Runs the collector until it is done, or until `stop` is set. The collector notices a stop between two of its rounds.
void collectUntil(Collector &collector, const std::atomic<bool> &stop) {
  std::atomic<bool> done{false};
  std::thread thread([&] {
    collector.run();
    done = true;
  });
  while (!done && !stop)
    sleepNs(kLookForStopNs);
  collector.programEnded(-1);
  thread.join();
}

std::vector<RunProcess> processesOf(const TraceReader &reader, const CollectorSummary &summary) {
  auto stored = readStored(reader);
  std::vector<RunProcess> list;
  if (stored)
    for (const auto &[number, entry] : stored->processes)
      list.push_back({number, entry.start.pid, entry.start.command, entry.end ? shellStatus(entry.end->status) : -1});
  for (const RunProcess &process : summary.processes)
    if (process.process == 0)
      list.push_back(process);
  return list;
}

Result<void> complete(const RunFolder &folder, const CollectorSummary &summary) {
  auto manifest = MSL_TRY(folder.readManifest());
  auto reader = MSL_TRY(TraceReader::open(folder.trace()));
  manifest.notes.insert(manifest.notes.end(), summary.notes.begin(), summary.notes.end());
  manifest.processes = processesOf(reader, summary);
  manifest.end_ns = readMonotonicNs();
  manifest.state = "complete";
  return folder.writeManifest(manifest);
}

} // namespace

Result<Adopted> adoptRun(const std::filesystem::path &run, const std::atomic<bool> &stop) {
  auto session = MSL_TRY(takeOver(run));
  auto folder = MSL_TRY(RunFolder::open(run));
  auto opened = MSL_TRY(openStored(folder.trace()));
  const uint32_t killed = session.control().collector_pid;
  session.control().collector_pid = static_cast<uint32_t>(getpid());
  Collector collector(session, std::move(opened.trace), opened.before, std::move(opened.stored));
  collectUntil(collector, stop);
  CollectorSummary summary = collector.summary();
  summary.notes.push_back(
      fmt::format("the collector (pid {}) was killed; pid {} continued the recording", killed, getpid()));
  if (summary.failure)
    return tl::make_unexpected(*summary.failure);
  MSL_TRY(complete(folder, summary));
  session.remove();
  return Adopted{summary.totals.stored, summary.notes};
}

} // namespace msleaks::analysis::inline collect
