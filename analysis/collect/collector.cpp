#include "analysis/collect/collector.h"

#include "analysis/collect/predecessor.h"
#include "analysis/collect/unseen.h"
#include "analysis/reach/liveness.h"
#include "analysis/reach/lost_pages.h"
#include "analysis/reach/robust_futex.h"
#include "msleaks/abi/selected_events.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

namespace msleaks::analysis::inline collect {
namespace {

// The sleep after a round that found nothing. It doubles up to kShortSleepNs, and then grows by an eighth each time. A
// thread that fills its ring meanwhile gets a larger one. While nothing is recorded, no ring fills up.
constexpr uint64_t kMinSleepNs = 20'000, kShortSleepNs = 1'000'000;
constexpr uint64_t kMaxSleepNs = 4'000'000, kStoppedSleepNs = 20'000'000;
constexpr uint64_t kLookNs = 5'000'000;
constexpr uint64_t kProgressNs = 200'000'000;
// The interval at which the trace says up to which time it is complete. This time is a bit earlier than the last look
// at the rings: a process is found some ms after its first record. Also, a thread may be suspended after it has read
// the clock, and before it reserves its slot.
constexpr uint64_t kMarkNs = 50'000'000, kMarkSlackNs = 20'000'000;
// After the program has ended, the collector waits this long for the other processes of the session to end.
constexpr uint64_t kGraceNs = 200'000'000;
// After this time, records that had begun before the recording was switched off are published.
constexpr uint64_t kSettleNs = 2'000'000;
// An adopted session is over if it has had no process for this long.
constexpr uint64_t kAloneNs = 500'000'000;

namespace fs = std::filesystem;

} // namespace

namespace {

ClockModel clockAfter(const abi::ControlPage &control) {
  const auto source = [kind = control.clock] { return readClockPair(kind); };
  const auto last = loadFit(control.fit);
  return last ? ClockModel(source, *last) : ClockModel(source);
}

} // namespace

StreamAccount sessionAccount(uint64_t dropped, uint64_t epochs) {
  return {kSessionProcess, 0, 0, "msleaks", dropped + epochs, dropped, 0};
}

Collector::Collector(SessionDir &session, TraceWriter trace)
    : Collector(session, std::move(trace),
                ClockModel([kind = session.control().clock] { return readClockPair(kind); })) {}

Collector::Collector(SessionDir &session, TraceWriter trace, const TraceReader &before, StoredSession stored)
    : Collector(session, std::move(trace), clockAfter(session.control())) {
  next_process_ = stored.last_process + 1;
  predecessor_ = std::make_unique<Predecessor>(Predecessor{before, std::move(stored)});
}

Collector::Collector(SessionDir &session, TraceWriter trace, ClockModel clock)
    : session_(session), trace_(std::move(trace)), clock_(std::move(clock)), output_{.writer = trace_, .clock = clock_},
      waiter_(session.path()), watch_answers_(
                                   [&wish = session.control().watch](const fs::path &definitions, uint32_t image) {
                                     return rangesOfLine(definitions, image, wish);
                                   },
                                   [this] { waiter_.wake(); }) {
  publishFit(session_.control().fit, clock_.line());
  beat();
  output_.after_batch = [this] {
    beat();
    if (kernel_)
      kernel_->read();
    if (!waiter_.wait(0))
      return;
    noteEnds();
    next_look_ns_ = 0;
  };
}

void Collector::observeKernel(KernelEvents &events) {
  kernel_.emplace(events);
  for (size_t stream = 0; stream < events.streams(); ++stream)
    waiter_.watchChange(events.wakeDescriptor(stream));
}

void Collector::beat() { session_.control().heartbeat_ns.store(readMonotonicNs(), std::memory_order_release); }

Collector::~Collector() = default;

void Collector::programStarted(uint32_t pid) { program_pid_.store(pid, std::memory_order_release); }

void Collector::programEnded(int wait_status) {
  program_status_.store(wait_status, std::memory_order_relaxed);
  program_end_ns_.store(readMonotonicNs(), std::memory_order_relaxed);
  program_ended_.store(true, std::memory_order_release);
  waiter_.wake();
}

void Collector::toggle() {
  toggles_.fetch_add(1, std::memory_order_relaxed);
  waiter_.wake();
}

CollectorProgress Collector::progress() const {
  return {progress_stored_.load(std::memory_order_relaxed), progress_dropped_.load(std::memory_order_relaxed),
          progress_processes_.load(std::memory_order_relaxed)};
}

void Collector::run() noexcept {
  surviveLostPages();
  const auto lost_before = lostPages(); // of an earlier collector in this process
  const RobustFutex alive(session_.control().collector_thread);
  try {
    if (auto collected = collect(); !collected)
      summary_.failure = collected.error();
  } catch (const std::exception &error) {
    summary_.failure = Error{fmt::format("the collector failed: {}", error.what()), ExitStatus::OwnFault};
  }
  if (summary_.failure)
    closeSession();
  if (const auto lost = lostPages() - lost_before; lost > 0)
    summary_.notes.push_back(fmt::format("{} pages of shared memory could not be read", lost));
  summary_.trace_bytes = trace_.bytesWritten();
}

Result<void> Collector::takeSwitch() {
  const uint64_t epochs = predecessor_ ? predecessor_->trace.storedEvents(kSessionProcess, 0) : 0;
  auto taken = MSL_TRY(RecordingSwitch::take(session_.control(), trace_, epochs));
  switch_.emplace(taken);
  auto socket = ControlSocket::listen(session_.path());
  if (socket)
    waiter_.watchInput(socket_.emplace(std::move(*socket)).fd());
  else
    summary_.notes.push_back(socket.error().message + "; msleaks ctl cannot reach this session");
  return {};
}

Result<void> Collector::collect() {
  MSL_TRY(takeSwitch());
  uint64_t sleep_ns = kMinSleepNs;
  while (!program_ended_.load(std::memory_order_acquire) && !isOver()) {
    auto stored = MSL_TRY(round(Urgency::Batch));
    sleep_ns = stored > 0 ? kMinSleepNs : sleepAfter(sleep_ns);
    if (waiter_.wait(reading_ ? 0 : sleep_ns))
      next_look_ns_ = 0;
    if (readMonotonicNs() >= next_look_ns_) // a command wakes the collector
      MSL_TRY(serve());
  }
  return finishSession();
}

// Returns the next sleep. It is so short that a waiting thread does not take the collector for dead.
uint64_t Collector::sleepAfter(uint64_t sleep_ns) const {
  const uint64_t timeout_ns = uint64_t{session_.control().flags.block_timeout_ms} * 1'000'000;
  const uint64_t longest_ns =
      switch_->recording() ? std::clamp(timeout_ns / 4, kMinSleepNs, kMaxSleepNs) : kStoppedSleepNs;
  return std::min(sleep_ns < kShortSleepNs ? sleep_ns * 2 : sleep_ns + sleep_ns / 8, longest_ns);
}

// Nobody tells the collector of an adopted session that the program has ended. It waits a moment for processes that
// have waited for a collector.
bool Collector::isOver() {
  if (!predecessor_)
    return false;
  const uint64_t now_ns = readMonotonicNs();
  if (!attached_.empty() || alone_since_ns_ == 0)
    alone_since_ns_ = now_ns;
  return now_ns > alone_since_ns_ + kAloneNs;
}

Result<uint64_t> Collector::round(Urgency urgency) {
  const uint64_t now = readMonotonicNs();
  beat();
  if (clock_.refit())
    publishFit(session_.control().fit, clock_.line());
  if (urgency == Urgency::Everything || now >= next_look_ns_) {
    MSL_TRY(lookAround(urgency));
    // A process needs some µs between the creation of its arena file and the file's first content.
    look_again_ns_ = unready_ ? std::min(std::max(look_again_ns_ * 2, kMinSleepNs), kLookNs) : 0;
    next_look_ns_ = now + (unready_ ? look_again_ns_ : kLookNs);
  }
  uint64_t stored = 0;
  for (const auto &process : attached_) {
    auto drained = process->collector.drain(output_, urgency, now);
    if (!drained)
      return drained;
    stored += *drained;
    if (process->life == Life::Running)
      watch_answers_.serve(process->collector.arena());
    if (process->life == Life::Running)
      MSL_TRY(process->collector.lookAtPages(trace_, now));
  }
  if (kernel_)
    stored += MSL_TRY(kernel_->drain(trace_, urgency != Urgency::Batch, now));
  reading_ = MSL_TRY(readWaiting());
  MSL_TRY(markComplete(now));
  if (now >= next_progress_ns_) {
    next_progress_ns_ = now + kProgressNs;
    updateProgress();
  }
  return stored;
}

// Writes a mark only if events were stored after the last mark, so that an idle session writes nothing.
Result<void> Collector::markComplete(uint64_t now_ns) {
  if (const uint64_t bytes = trace_.bytesWritten(); bytes != seen_bytes_) {
    seen_bytes_ = bytes;
    grown_ns_ = readMonotonicNs();
  }
  if (grown_ns_ < complete_until_ns_ || now_ns < next_mark_ns_ || unready_)
    return {};
  uint64_t until_ns = now_ns;
  for (const auto &process : attached_)
    until_ns = std::min(until_ns, process->collector.completeUntil());
  if (kernel_)
    until_ns = std::min(until_ns, kernel_->completeUntil(now_ns));
  until_ns -= std::min(until_ns, kMarkSlackNs);
  next_mark_ns_ = now_ns + kMarkNs;
  if (until_ns <= complete_until_ns_)
    return {};
  MSL_TRY(trace_.completeUntil(until_ns));
  complete_until_ns_ = until_ns;
  seen_bytes_ = trace_.bytesWritten();
  return {};
}

Result<void> Collector::lookAround(Urgency urgency) {
  // Look for ends before new arenas: the arena of a process that has ended is complete, and an exec needs its old image
  // still attached.
  noteEnds();
  if (session_.changed() || unready_ || urgency == Urgency::Everything)
    MSL_TRY(attachNew());
  MSL_TRY(finishEnded());
  MSL_TRY(lookAtForks());
  return sampleResident();
}

Result<void> Collector::sampleResident() {
  const uint64_t now_ns = readMonotonicNs();
  for (const auto &process : attached_)
    if (process->life == Life::Running && resident_.isDue(process->collector.process(), now_ns)) {
      process->identity.look(process->pid);
      resident_.visit(process->collector.process(), process->pid, process->collector.arenaBytes(), now_ns);
    }
  sharing_.visit(now_ns);
  MSL_TRY(sharing_.store(trace_, now_ns));
  return resident_.store(trace_, now_ns);
}

Result<void> Collector::lookAtForks() {
  const auto found = forks_.lookOn(readMonotonicNs());
  Attached *child = found ? running(found->first) : nullptr;
  return child ? child->collector.storePages(found->second, trace_) : Result<void>();
}

Result<void> Collector::waitForOthers() {
  const uint64_t until = readMonotonicNs() + kGraceNs;
  const auto running = [this](const auto &process) {
    return process->life == Life::Running && !process->watch.unseen() && !isProgram(*process);
  };
  while (std::any_of(attached_.begin(), attached_.end(), running) && readMonotonicNs() < until) {
    MSL_TRY(round(Urgency::Everything));
    sleepNs(kShortSleepNs);
  }
  return {};
}

Result<void> Collector::finishSession() {
  MSL_TRY(round(Urgency::Everything));
  MSL_TRY(waitForOthers());
  closeSession();
  sleepNs(kSettleNs);
  // Repeat this while it finds new arenas: some may have found no free file descriptor before.
  uint32_t before;
  do {
    before = next_process_;
    MSL_TRY(round(Urgency::Everything));
    MSL_TRY(finishAll());
  } while (next_process_ != before);
  for (const auto &file : session_.arenas())
    if (!known_arenas_.contains(file.filename().string())) {
      summary_.notes.push_back(fmt::format("{}: its process had no room for its events", file.filename().string()));
      summary_.processes.push_back({0, pidOfArena(file), {}, -1});
    }
  MSL_TRY(accountForUnseen());
  MSL_TRY(finishKernel());
  MSL_TRY(resident_.store(trace_, readMonotonicNs(), true));
  MSL_TRY(sharing_.store(trace_, readMonotonicNs(), true));
  return trace_.close();
}

Result<void> Collector::finishKernel() {
  if (!kernel_)
    return {};
  MSL_TRY(kernel_->finish(trace_));
  summary_.totals.produced += kernel_->stored();
  summary_.totals.stored += kernel_->stored();
  return {};
}

Result<void> Collector::accountForUnseen() {
  const Unseen unseen = readUnseen(session_);
  summary_.processes.insert(summary_.processes.end(), unseen.processes.begin(), unseen.processes.end());
  summary_.notes.insert(summary_.notes.end(), unseen.notes.begin(), unseen.notes.end());
  summary_.totals.produced += unseen.dropped;
  summary_.totals.dropped += unseen.dropped;
  if (unseen.dropped == 0 && switch_->stored() == 0)
    return {};
  return trace_.streamAccount(sessionAccount(unseen.dropped, switch_->stored()));
}

Result<void> Collector::finishAll() {
  for (auto &process : attached_) {
    const bool program = isProgram(*process);
    const bool running = process->life == Life::Running && !process->watch.unseen() && !program;
    if (running)
      summary_.notes.push_back(fmt::format("{} was still running when the session ended; it is recorded until then",
                                           describeProcess(process->collector.facts())));
    const uint64_t end_ns = program   ? program_end_ns_.load(std::memory_order_relaxed)
                            : running ? readMonotonicNs()
                                      : process->ended_ns;
    const int status = program ? program_status_.load(std::memory_order_relaxed) : -1;
    MSL_TRY(finish(*process, end_ns, status, running ? EndReason::Running : EndReason::Ended));
    process.reset();
  }
  std::erase(attached_, nullptr);
  return {};
}

// After this call, no process waits for the collector, or records anything.
void Collector::closeSession() {
  enable(session_.control(), 0);
  session_.control().state.store(abi::SessionState::Closed, std::memory_order_release);
}

ProcessTotals Collector::totalsNow() const {
  ProcessTotals sum = summary_.totals;
  for (const auto &process : attached_)
    sum += process->collector.totals();
  return sum;
}

void Collector::updateProgress() {
  const ProcessTotals sum = totalsNow();
  progress_stored_.store(sum.stored, std::memory_order_relaxed);
  progress_dropped_.store(sum.dropped, std::memory_order_relaxed);
  progress_processes_.store(next_process_ - 1, std::memory_order_relaxed);
}

} // namespace msleaks::analysis::inline collect
