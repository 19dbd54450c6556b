#include "msleaks/analysis/collector.h"

#include "collect/liveness.h"
#include "msleaks/analysis/lost_pages.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <sys/wait.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kMinSleepNs = 20'000, kMaxSleepNs = 1'000'000;
constexpr uint64_t kLookNs = 5'000'000;
constexpr uint64_t kProgressNs = 200'000'000;
// Other processes of the session that end so shortly after the program are still waited for.
constexpr uint64_t kGraceNs = 200'000'000;
// A record that was under way when recording was switched off is published by then.
constexpr uint64_t kSettleNs = 2'000'000;

namespace fs = std::filesystem;

} // namespace

int shellStatus(int wait_status) {
  if (wait_status == -1)
    return -1;
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Collector::Collector(SessionDir &session, TraceWriter trace)
    : session_(session), trace_(std::move(trace)),
      clock_([kind = session.control().clock] { return readClockPair(kind); }),
      output_{trace_, clock_, &session.control().heartbeat_ns} {
  publishFit(session_.control().fit, clock_.line());
  session_.control().heartbeat_ns.store(readMonotonicNs(), std::memory_order_release);
}

Collector::~Collector() = default;

void Collector::programStarted(uint32_t pid) { program_pid_.store(pid, std::memory_order_release); }

void Collector::programEnded(int wait_status) {
  program_status_.store(wait_status, std::memory_order_relaxed);
  program_ended_.store(true, std::memory_order_release);
}

CollectorProgress Collector::progress() const {
  return {progress_stored_.load(std::memory_order_relaxed), progress_dropped_.load(std::memory_order_relaxed),
          progress_processes_.load(std::memory_order_relaxed)};
}

void Collector::run() noexcept {
  surviveLostPages();
  try {
    if (auto collected = collect(); !collected)
      summary_.failure = collected.error();
  } catch (const std::exception &error) {
    summary_.failure = Error{fmt::format("the collector failed: {}", error.what()), ExitStatus::OwnFault};
  }
  if (summary_.failure)
    closeSession();
  if (lostPages() > 0)
    summary_.notes.push_back(fmt::format("{} pages of shared memory could not be read", lostPages()));
  summary_.trace_bytes = trace_.bytesWritten();
}

Result<void> Collector::collect() {
  uint64_t sleep_ns = kMinSleepNs;
  while (!program_ended_.load(std::memory_order_acquire)) {
    auto stored = round(Urgency::Batch);
    if (!stored)
      return tl::make_unexpected(stored.error());
    sleep_ns = *stored > 0 ? kMinSleepNs : std::min(sleep_ns * 2, kMaxSleepNs);
    sleepNs(sleep_ns);
  }
  return finishSession();
}

Result<uint64_t> Collector::round(Urgency urgency) {
  const uint64_t now = readMonotonicNs();
  session_.control().heartbeat_ns.store(now, std::memory_order_release);
  if (clock_.refit())
    publishFit(session_.control().fit, clock_.line());
  if (urgency == Urgency::Everything || now >= next_look_ns_) {
    next_look_ns_ = now + kLookNs;
    if (auto looked = lookAround(urgency); !looked)
      return tl::make_unexpected(looked.error());
  }
  uint64_t stored = 0;
  for (const auto &process : attached_) {
    auto drained = process->collector.drain(output_, urgency, now);
    if (!drained)
      return drained;
    stored += *drained;
  }
  if (now >= next_progress_ns_) {
    next_progress_ns_ = now + kProgressNs;
    updateProgress();
  }
  return stored;
}

Result<void> Collector::lookAround(Urgency urgency) {
  // Who has ended is asked before who is new: an arena found afterwards is complete, and an exec finds its predecessor.
  for (const auto &process : attached_)
    if (process->life == Life::Running && process->watch.hasEnded())
      process->life = Life::Gone;
  if (session_.changed() || unready_ || urgency == Urgency::Everything)
    if (auto attached = attachNew(); !attached)
      return attached;
  return finishEnded();
}

// In the order in which the images attached. Each is closed again: there may be more than we may have open.
std::vector<fs::path> Collector::newArenas() {
  unready_ = false;
  std::vector<std::pair<uint64_t, fs::path>> found;
  for (const auto &file : session_.arenas()) {
    if (known_arenas_.contains(file.filename().string()))
      continue;
    auto arena = ArenaReader::open(file);
    if (!arena) {
      known_arenas_.insert(file.filename().string());
      summary_.notes.push_back(arena.error().message);
    } else if (*arena) {
      found.emplace_back((*arena)->facts().attach_ns, file);
    } else {
      unready_ = true; // that it becomes ready does not change the directory
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> files;
  for (auto &[attach_ns, file] : found)
    files.push_back(std::move(file));
  return files;
}

Result<void> Collector::attachNew() {
  for (const auto &file : newArenas()) {
    auto arena = ArenaReader::open(file);
    if (!arena || !*arena) {
      unready_ = true;
      return {}; // and not the ones behind it: their order tells who replaced whom
    }
    known_arenas_.insert(file.filename().string());
    if (auto attached = attach(std::move(**arena)); !attached)
      return attached;
    // At once, or hundreds of short processes would fill the shared memory and our table of files.
    if (attached_.back()->life == Life::Gone)
      if (auto finished = finishEnded(); !finished)
        return finished;
  }
  return {};
}

Result<void> Collector::attach(ArenaReader arena) {
  for (const auto &process : attached_)
    if (replaces(arena.facts(), process->collector.facts()))
      process->life = Life::Replaced;
  const uint32_t pid = pidHere(arena.facts());
  const abi::OnFull policy = session_.control().flags.on_full;
  attached_.push_back(std::make_unique<Attached>(
      Attached{ProcessCollector(next_process_++, std::move(arena), policy), ProcessWatch(pid), pid, Life::Running}));
  Attached &process = *attached_.back();
  if (process.watch.hasEnded())
    process.life = Life::Gone;
  return process.collector.start(trace_);
}

bool Collector::isProgram(const Attached &process) const {
  return process.life != Life::Replaced && process.pid != 0 &&
         process.pid == program_pid_.load(std::memory_order_acquire);
}

Result<void> Collector::finishEnded() {
  for (auto &process : attached_) {
    // The program's own end comes with its status, from the one who waits for it.
    if (process->life == Life::Running || isProgram(*process))
      continue;
    const int status = process->life == Life::Gone ? process->watch.waitStatus() : -1;
    if (auto finished = finish(*process, status); !finished)
      return finished;
    process.reset();
  }
  std::erase(attached_, nullptr);
  return {};
}

// All of the process is in the trace afterwards, so its shared memory can go.
Result<void> Collector::finish(Attached &process, int wait_status) {
  ProcessCollector &collector = process.collector;
  if (auto finished = collector.finish(output_, readMonotonicNs(), wait_status); !finished)
    return tl::make_unexpected(finished.error());
  const ProcessTotals totals = collector.totals();
  summary_.totals.produced += totals.produced + collector.droppedNoRing();
  summary_.totals.stored += totals.stored;
  summary_.totals.dropped += totals.dropped + collector.droppedNoRing();
  summary_.totals.stalled_ns += totals.stalled_ns;
  summary_.notes.insert(summary_.notes.end(), collector.notes().begin(), collector.notes().end());
  const ArenaFacts &facts = collector.facts();
  summary_.processes.push_back({collector.process(), facts.pid, facts.command, shellStatus(wait_status)});
  SessionDir::removeArena(collector.arenaFile());
  std::error_code ignored;
  if (!fs::exists(collector.arenaFile(), ignored))
    known_arenas_.erase(collector.arenaFile().filename().string());
  return {};
}

Result<void> Collector::waitForOthers() {
  const uint64_t until = readMonotonicNs() + kGraceNs;
  const auto running = [this](const auto &process) {
    return process->life == Life::Running && !process->watch.unseen() && !isProgram(*process);
  };
  while (std::any_of(attached_.begin(), attached_.end(), running) && readMonotonicNs() < until) {
    if (auto stored = round(Urgency::Everything); !stored)
      return tl::make_unexpected(stored.error());
    sleepNs(kMaxSleepNs);
  }
  return {};
}

Result<void> Collector::finishSession() {
  if (auto stored = round(Urgency::Everything); !stored)
    return tl::make_unexpected(stored.error());
  if (auto waited = waitForOthers(); !waited)
    return waited;
  closeSession();
  sleepNs(kSettleNs);
  // Again as long as there is something new: those for which there was no file descriptor left find one now.
  uint32_t before;
  do {
    before = next_process_;
    if (auto stored = round(Urgency::Everything); !stored)
      return tl::make_unexpected(stored.error());
    if (auto finished = finishAll(); !finished)
      return finished;
  } while (next_process_ != before);
  for (const auto &file : session_.arenas())
    if (!known_arenas_.contains(file.filename().string())) {
      summary_.notes.push_back(fmt::format("{}: its process had no room to record in", file.filename().string()));
      summary_.processes.push_back({0, pidOfArena(file), {}, -1});
    }
  return trace_.close();
}

Result<void> Collector::finishAll() {
  for (auto &process : attached_) {
    const ArenaFacts &facts = process->collector.facts();
    if (process->life == Life::Running && !process->watch.unseen() && !isProgram(*process))
      summary_.notes.push_back(fmt::format("{} was still running when the session ended; it is recorded until then",
                                           describeProcess(facts)));
    const int status = isProgram(*process) ? program_status_.load(std::memory_order_relaxed) : -1;
    if (auto finished = finish(*process, status); !finished)
      return finished;
    process.reset();
  }
  std::erase(attached_, nullptr);
  return {};
}

// No process waits for us, or records anything, after this.
void Collector::closeSession() {
  session_.control().enabled.store(0, std::memory_order_release);
  session_.control().state.store(abi::SessionState::Closed, std::memory_order_release);
}

void Collector::updateProgress() {
  ProcessTotals sum = summary_.totals;
  for (const auto &process : attached_) {
    const ProcessTotals totals = process->collector.totals();
    sum.stored += totals.stored;
    sum.dropped += totals.dropped + process->collector.droppedNoRing();
  }
  progress_stored_.store(sum.stored, std::memory_order_relaxed);
  progress_dropped_.store(sum.dropped, std::memory_order_relaxed);
  progress_processes_.store(next_process_ - 1, std::memory_order_relaxed);
}

} // namespace msleaks::analysis
