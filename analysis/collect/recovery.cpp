#include "analysis/collect/recovery.h"

#include "analysis/base/path_check.h"
#include "analysis/base/program.h"
#include "analysis/base/run_folder.h"
#include "analysis/collect/collector.h"
#include "analysis/collect/process_collector.h"
#include "analysis/collect/session_dir.h"
#include "analysis/collect/stored_session.h"
#include "analysis/collect/unseen.h"
#include "analysis/reach/liveness.h"
#include "analysis/reach/lost_pages.h"
#include "analysis/trace/trace_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace msleaks::analysis::inline collect {
namespace {

namespace fs = std::filesystem;

// Returns the clock of a dead session: the line that its collector published last. Without one, it is the line from an
// arena's attach to now.
ClockModel modelOf(const SessionDir &session, const std::vector<ArenaReader> &arenas) {
  if (const auto line = loadFit(session.control().fit))
    return ClockModel(*line);
  if (arenas.empty() || session.control().clock == abi::ClockKind::Monotonic)
    return ClockModel(ClockLine{});
  const ArenaFacts &facts = arenas.front().facts();
  return ClockModel(lineThrough({facts.attach_ticks, facts.attach_ns}, readClockPair(session.control().clock)));
}

class Recovery {
public:
  Recovery(SessionDir session, const TraceReader &before, StoredSession stored, TraceWriter trace)
      : session_(std::move(session)), before_(before), stored_(std::move(stored)), trace_(std::move(trace)),
        heartbeat_ns_(session_.control().heartbeat_ns.load(std::memory_order_acquire)), end_ns_(heartbeat_ns_) {}

  Result<Recovered> run();
  uint64_t endNs() const { return end_ns_; } // end of the session
  void removeSession() { session_.remove(); }
  std::vector<RunProcess> processes() const;

private:
  std::vector<ArenaReader> openArenas();
  Result<void> recover(ArenaReader, const ClockModel &, EndReason);
  Result<void> accountForUnseen();

  SessionDir session_;
  const TraceReader &before_; // the trace as it was found
  StoredSession stored_;
  TraceWriter trace_;
  uint64_t heartbeat_ns_; // last heartbeat of the collector
  uint64_t end_ns_;
  Recovered result_;
  std::vector<RunProcess> unrecorded_; // processes that had no room to record, or could not make their files
};

std::vector<ArenaReader> Recovery::openArenas() {
  std::vector<ArenaReader> arenas;
  for (const fs::path &file : session_.arenas()) {
    auto arena = ArenaReader::open(file);
    if (!arena)
      result_.notes.push_back(arena.error().message);
    else if (!*arena) {
      result_.notes.push_back(fmt::format("{}: its process had no room for its events", file.filename().string()));
      unrecorded_.push_back({0, pidOfArena(file), {}, -1});
    } else
      arenas.push_back(std::move(**arena));
  }
  std::sort(arenas.begin(), arenas.end(),
            [](const ArenaReader &a, const ArenaReader &b) { return a.facts().attach_ns < b.facts().attach_ns; });
  return arenas;
}

Result<void> Recovery::recover(ArenaReader arena, const ClockModel &clock, EndReason reason) {
  const ArenaFacts facts = arena.facts();
  const fs::path file = arena.path();
  StoredSession::Entry *known = stored_.find(facts);
  const uint32_t process = known ? known->start.process : ++stored_.last_process;
  StoredProcess stored = known ? known->stored : StoredProcess{};
  if (known)
    findPositions(stored, process, arena, before_);
  ProcessCollector collector(process, std::move(arena), session_.control().flags.on_full, stored);
  if (!known) {
    MSL_TRY(collector.start(trace_));
    stored_.processes[process].start = startOf(process, facts);
  }
  CollectOutput output{trace_, clock};
  // If the time of the end is not known, it is the collector's last heartbeat, or the last event if that is later. It
  // is never the time of the recovery.
  const auto end = known && known->end ? *known->end : ProcessEnd{process, heartbeat_ns_, -1, 0, reason};
  const auto ended_ns = MSL_TRY(collector.finish(output, end.time_ns, end.status, end.reason));
  end_ns_ = std::max(end_ns_, ended_ns);
  result_.events_added += collector.totals().stored;
  result_.notes.insert(result_.notes.end(), collector.notes().begin(), collector.notes().end());
  if (collector.lostSight())
    unrecorded_.push_back({0, facts.pid, {}, -1});
  SessionDir::removeArena(file);
  return {};
}

Result<Recovered> Recovery::run() {
  std::vector<ArenaReader> arenas = openArenas();
  const ClockModel clock = modelOf(session_, arenas);
  for (size_t i = 0; i < arenas.size(); ++i) {
    const ArenaFacts facts = arenas[i].facts();
    const bool replaced = std::any_of(arenas.begin() + static_cast<ptrdiff_t>(i) + 1, arenas.end(),
                                      [&](const ArenaReader &later) { return replaces(later.facts(), facts); });
    if (!replaced && isStillRunning(facts)) {
      result_.still_running.push_back(describeProcess(facts));
      continue;
    }
    const EndReason reason = replaced ? EndReason::Replaced : EndReason::Ended;
    MSL_TRY(recover(std::move(arenas[i]), clock, reason));
  }
  if (result_.still_running.empty()) // running processes may drop more events
    MSL_TRY(accountForUnseen());
  MSL_TRY(trace_.close());
  return result_;
}

Result<void> Recovery::accountForUnseen() {
  Unseen unseen = readUnseen(session_);
  result_.notes.insert(result_.notes.end(), unseen.notes.begin(), unseen.notes.end());
  unrecorded_.insert(unrecorded_.end(), unseen.processes.begin(), unseen.processes.end());
  return unseen.dropped == 0 ? Result<void>() : trace_.streamAccount(sessionAccount(unseen.dropped, 0));
}

std::vector<RunProcess> Recovery::processes() const {
  std::vector<RunProcess> list;
  for (const auto &[number, entry] : stored_.processes)
    list.push_back({number, entry.start.pid, entry.start.command, entry.end ? shellStatus(entry.end->status) : -1});
  list.insert(list.end(), unrecorded_.begin(), unrecorded_.end());
  return list;
}

// Completes the folder when the shared memory is gone, so that nothing can be added to the trace.
Result<Recovered> closeOnly(const RunFolder &folder, Manifest manifest, const fs::path &session) {
  auto trace = MSL_TRY(TraceWriter::append(folder.trace()));
  MSL_TRY(trace.close());
  SessionDir::removeUnfinished(session);
  Recovered result;
  result.notes.push_back(fmt::format(
      "the session's shared memory {} is gone: the events that it still contained are lost", session.string()));
  manifest.notes.insert(manifest.notes.end(), result.notes.begin(), result.notes.end());
  manifest.state = "recovered";
  MSL_TRY(folder.writeManifest(manifest));
  return result;
}

// If the caller names the session's shared memory, the manifest is not needed to find it. Then a lost manifest is
// replaced.
Result<Manifest> readOrInvent(const RunFolder &folder, const fs::path &session) {
  auto manifest = folder.readManifest();
  std::error_code unreadable;
  if (manifest || session.empty() || fs::exists(folder.path() / kManifestFile, unreadable) || unreadable)
    return manifest;
  Manifest invented;
  invented.state = "running";
  invented.session_dir = session.string();
  invented.notes.push_back("the manifest was lost: command, options and times are not known");
  return invented;
}

} // namespace

Result<Recovered> recoverRun(const fs::path &path, const fs::path &session_path) {
  surviveLostPages();
  auto folder = MSL_TRY(RunFolder::open(path));
  auto manifest = MSL_TRY(readOrInvent(folder, session_path));
  const fs::path session_dir = session_path.empty() ? fs::path(manifest.session_dir) : session_path;
  if (session_path.empty() && manifest.state == "running" && !session_dir.is_absolute())
    return fail(fmt::format("'{}': its session_dir '{}' is no absolute path: name the right folder by --session",
                            (folder.path() / kManifestFile).string(), manifest.session_dir));
  // Checked before anything is taken out of the shared memory.
  MSL_TRY(checkOutputFile(folder.path() / kManifestFile));
  if (std::error_code unreadable; !fs::exists(session_dir / abi::kControlFile, unreadable)) {
    if (!session_path.empty())
      return fail(fmt::format("{}: no session's shared memory is there", session_path.string()));
    if (manifest.state != "running")
      return Recovered{.already_complete = true, .still_running = {}, .notes = {}};
    return closeOnly(folder, std::move(manifest), session_dir);
  }
  auto session = SessionDir::adopt(session_dir);
  if (!session)
    return fail(session.error().message);
  auto opened = MSL_TRY(openStored(folder.trace()));

  Recovery recovery(std::move(*session), opened.before, std::move(opened.stored), std::move(opened.trace));
  auto result = recovery.run();
  if (!result)
    return result;
  manifest.processes = recovery.processes();
  manifest.notes.insert(manifest.notes.end(), result->notes.begin(), result->notes.end());
  if (result->still_running.empty()) {
    manifest.end_ns = std::max(manifest.end_ns, recovery.endNs());
    manifest.state = "recovered";
  }
  MSL_TRY(folder.writeManifest(manifest));
  if (result->still_running.empty())
    recovery.removeSession();
  return result;
}

} // namespace msleaks::analysis::inline collect
