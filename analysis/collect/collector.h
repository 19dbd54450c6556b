// The live collector of a session: finds the processes, drains their rings into the trace, and counts the events. run()
// has a thread of its own. All other functions may be called from another thread.
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/collect/control_socket.h"
#include "analysis/collect/kernel_streams.h"
#include "analysis/collect/process_collector.h"
#include "analysis/collect/recording_switch.h"
#include "analysis/collect/session_dir.h"
#include "analysis/collect/session_waiter.h"
#include "analysis/collect/watch_answer.h"
#include "analysis/reach/fork_copies.h"
#include "analysis/reach/pointer_reading.h"
#include "analysis/reach/process_identity.h"
#include "analysis/reach/process_watch.h"
#include "analysis/reach/resident_sampler.h"
#include "analysis/reach/sharing_sampler.h"
#include "analysis/trace/trace_reader.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace msleaks::analysis::inline collect {

struct StoredSession;

// The results of the collector.
struct CollectorSummary {
  ProcessTotals totals;
  uint64_t trace_bytes = 0;
  std::vector<RunProcess> processes;
  std::vector<std::string> notes;
  std::optional<Error> failure; // the recording stopped early, and the session's shared memory is still needed
};

struct CollectorProgress {
  uint64_t stored = 0, dropped = 0, processes = 0;
};

class Collector {
public:
  Collector(SessionDir &session, TraceWriter trace);
  // Continues after a collector that was killed. `before` is the trace as that collector left it. The new collector
  // also ends when no process is left.
  Collector(SessionDir &session, TraceWriter trace, const TraceReader &before, StoredSession stored);
  ~Collector();

  // Also stores these events. Call this before run().
  void observeKernel(KernelEvents &);
  // Runs until programEnded() or a failure. A failure closes the session: the processes continue without recording.
  void run() noexcept;
  // The session's program. Its exit status comes from programEnded(), not from its arena.
  void programStarted(uint32_t pid);
  void programEnded(int wait_status); // call this at once
  // Starts a session that is stopped, or stops one that records. Any thread may call this.
  void toggle();

  CollectorProgress progress() const;
  // Valid after run() has returned.
  const CollectorSummary &summary() const { return summary_; }

private:
  enum class Life { Running, Gone, Replaced };
  struct Predecessor;
  struct Attached {
    ProcessCollector collector;
    ProcessWatch watch;
    uint32_t pid; // in the collector's pid namespace; 0 = not visible there
    Life life = Life::Running;
    uint64_t ended_ns = 0;                     // when the process ended; 0 = not known
    int known_status = -1;                     // an earlier collector has stored the end
    std::unique_ptr<PointerReading> reading{}; // while the process waits, or is held
    ProcessIdentity identity{};
  };

  Collector(SessionDir &session, TraceWriter trace, ClockModel clock);
  Result<void> collect();
  uint64_t sleepAfter(uint64_t sleep_ns) const;
  bool isOver();
  Result<void> takeSwitch();
  Result<void> serve();
  Result<ControlAnswer> obey(const std::string &request);
  Result<ControlAnswer> set(const std::string &assignment);
  Result<void> snapshot();
  std::string status();
  ProcessTotals totalsNow() const;
  Result<uint64_t> round(Urgency);
  Result<void> lookAround(Urgency);
  Result<void> sampleResident();
  Result<void> lookAtForks();
  Result<void> markComplete(uint64_t now_ns);
  PointerReading::Subject subjectOf(const Attached &) const;
  Result<bool> readWaiting(); // returns whether there are any
  Attached *running(uint32_t number) const;
  Result<void> hold(uint32_t number);
  Result<ControlAnswer> reachNow();
  Result<void> endReading(Attached &);
  void noteEnds();
  void beat();
  std::vector<std::filesystem::path> newArenas();
  Result<void> attachNew();
  Result<void> attach(ArenaReader);
  static void watchForEnd(Attached &);
  void watchFork(const Attached &child, bool wants_pages);
  static void replaceIfSame(Attached &earlier, const ArenaFacts &later);
  void replaceByUnattached(Attached &);
  Result<void> finishEnded();
  Result<void> finish(Attached &, uint64_t end_ns, int wait_status, EndReason);
  Result<void> finishSession();
  Result<void> finishAll();
  Result<void> waitForOthers();
  Result<void> accountForUnseen();
  Result<void> finishKernel();
  bool isProgram(const Attached &) const;
  void closeSession();
  void updateProgress();

  SessionDir &session_;
  TraceWriter trace_;
  ClockModel clock_;
  CollectOutput output_;
  SessionWaiter waiter_;
  std::optional<RecordingSwitch> switch_;
  std::optional<ControlSocket> socket_; // nothing: the file system has no sockets
  std::vector<std::unique_ptr<Attached>> attached_;
  std::unordered_set<std::string> known_arenas_;
  ResidentSampler resident_;
  SharingSampler sharing_;
  ForkLooks forks_;
  WatchAnswers watch_answers_;
  std::optional<KernelStreams> kernel_;
  std::unique_ptr<Predecessor> predecessor_;
  uint64_t alone_since_ns_ = 0;             // since when there has been no process
  bool reading_ = false;                    // a process waits to be read, or is held
  std::vector<std::string> read_on_demand_; // the answer about the processes that were read last
  bool unready_ = false;                    // there was an arena that could not be attached yet
  uint32_t next_process_ = 1;
  uint64_t look_again_ns_ = 0; // pause before the next look while an arena is not ready
  uint64_t next_look_ns_ = 0, next_progress_ns_ = 0;
  uint64_t complete_until_ns_ = 0, next_mark_ns_ = 0; // end of the last mark; time of the next one
  uint64_t seen_bytes_ = 0, grown_ns_ = 0;            // size of the trace; when it last grew
  CollectorSummary summary_;

  std::atomic<uint32_t> toggles_{0}; // calls of toggle() that were not handled yet
  std::atomic<uint32_t> program_pid_{0};
  std::atomic<int> program_status_{-1};
  std::atomic<uint64_t> program_end_ns_{0};
  std::atomic<bool> program_ended_{false};
  std::atomic<uint64_t> progress_stored_{0}, progress_dropped_{0}, progress_processes_{0};
};

// Returns the account of the session's own stream, which belongs to kSessionProcess.
StreamAccount sessionAccount(uint64_t dropped, uint64_t epochs);

} // namespace msleaks::analysis::inline collect
