#include "analysis/second_run/write_tracer.h"

#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <cerrno>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

using abi::GuardCall;
using Where = WatchingThread::Where;

// glibc's struct pthread with what the kernel writes in it (rseq, the robust list, the thread's number), from what FS
// points to.
constexpr uint64_t kControlBlockBefore = 512, kControlBlockBytes = 4096;

uint64_t bytesOf(std::span<const ClosablePages> pages) {
  uint64_t bytes = 0;
  for (const ClosablePages &part : pages)
    bytes += part.range.end - part.range.begin;
  return bytes;
}

// A thread that has stopped already, an interruption would meet in its next call.
std::optional<int> stop(pid_t tid, bool &is_interrupted) {
  int status = 0;
  if (waitpid(tid, &status, __WALL | WNOHANG) == tid)
    return status;
  is_interrupted = ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0;
  return is_interrupted ? waitForStop(tid) : std::nullopt;
}

} // namespace

WriteTracer::WriteTracer(WriteQuestion question, WriteUser user)
    : Tracer(filterOfGuardCalls()), question_(std::move(question)), user_(std::move(user)) {}
WriteTracer::~WriteTracer() = default;

WatchingProcess &WriteTracer::of(pid_t tid) { return static_cast<WatchingProcess &>(*threads().at(tid)); }
WatchingThread &WriteTracer::thread(pid_t tid) {
  std::unique_ptr<WatchingThread> &state = states_[tid];
  if (!state)
    state = std::make_unique<WatchingThread>();
  return *state;
}

std::shared_ptr<Tracer::AddressSpace> WriteTracer::makeSpace(pid_t pid) const {
  return std::make_shared<WatchingProcess>(pid);
}
std::shared_ptr<Tracer::AddressSpace> WriteTracer::copySpace(const AddressSpace &space) const {
  return std::make_shared<WatchingProcess>(static_cast<const WatchingProcess &>(space));
}

// A fork's child watches what it watches itself.
void WriteTracer::onStart(pid_t tid) {
  states_[tid] = std::make_unique<WatchingThread>();
  if (WatchingProcess &process = of(tid); process.pid == tid && !process.blocks.empty()) {
    setPages(tid, false);
    process.blocks.clear();
    process.is_watched = false;
  }
  resume(tid);
}

void WriteTracer::onReplaced(pid_t tid) {
  states_[tid] = std::make_unique<WatchingThread>();
  user_.replaced(tid);
}

void WriteTracer::onThreadEnd(pid_t tid) {
  WatchingThread &ending = thread(tid);
  ending.where = Where::Ending;
  ending.ranges.clear();
  ending.given.clear();
  ending.is_given_all = false;
}

void WriteTracer::resume(pid_t tid, int signal) {
  WatchingThread &resumed = thread(tid);
  const bool stops = of(tid).is_watched || resumed.told;
  resumed.in_call = resumed.in_call && stops;
  if (resumed.where != Where::Ending)
    resumed.where = !stops ? Where::Unknown : resumed.in_call ? Where::InCall : Where::Running;
  ptrace(stops ? PTRACE_SYSCALL : PTRACE_CONT, tid, nullptr, reinterpret_cast<void *>(static_cast<intptr_t>(signal)));
}

// Each stands at what it reports, until its turn comes.
void WriteTracer::stopOthers(pid_t tid, Which which) {
  for (const auto &[other, space] : threads()) {
    if (other == tid || space != threads().at(tid) || !hasStarted(other) || waitsForChild(other))
      continue;
    WatchingThread &running = thread(other);
    const bool runs = running.where == Where::Running || running.where == Where::Unknown;
    if (!runs && (which == Which::Running || running.where != Where::InCall))
      continue;
    const auto status = stop(other, running.is_interrupted);
    if (!status)
      continue;
    defer({other, *status});
    running.where = Where::Stopped;
    running.control_block = StoppedThread(other).controlBlock();
  }
}

void WriteTracer::onCall(pid_t tid) {
  WatchingThread &caller = thread(tid);
  caller.where = Where::Stopped;
  caller.in_call = true;
  const StoppedThread stopped(tid);
  if (const auto state = stopped.callState(); state && state->call.number == static_cast<uint64_t>(abi::kGuardCall)) {
    of(tid).instruction = state->instruction;
    caller.control_block = stopped.controlBlock();
    stopped.answerCall(answer(tid, state->call));
  }
  resume(tid);
}

// What it says is done at its end: only there the thread can make other calls.
int64_t WriteTracer::answer(pid_t tid, const SystemCall &call) {
  const auto &arguments = call.arguments;
  const pid_t process = of(tid).pid;
  Told told{static_cast<GuardCall>(arguments[0]), arguments[1], arguments[2], {}};
  switch (told.what) {
  case GuardCall::Listen:
    loaded_ = true;
    return 1;
  case GuardCall::Made:
    if (question_.is_told || !user_.wants(StoppedThread(tid), process, told.address))
      return 0;
    thread(tid).told = std::move(told);
    return 1;
  case GuardCall::Watch:
    told.text = textAt(process, arguments[3]);
    break;
  case GuardCall::RangeBegins:
    told.text = textAt(process, arguments[1]);
    break;
  case GuardCall::Unwatch:
  case GuardCall::RangeEnds:
  case GuardCall::Step:
    break;
  default:
    return -EINVAL;
  }
  thread(tid).told = std::move(told);
  return 0;
}

void WriteTracer::perform(pid_t tid, const Told &told) {
  std::vector<std::string> &ranges = thread(tid).ranges;
  switch (told.what) {
  case GuardCall::Made:
    watch(tid, {told.address, told.address + told.bytes});
    break;
  case GuardCall::Watch:
    if (question_.is_told &&
        (question_.name ? told.text == *question_.name : told.text.empty() && told.bytes == question_.bytes))
      watch(tid, {told.address, told.address + told.bytes});
    break;
  case GuardCall::Unwatch:
    unwatch(tid, told.address);
    break;
  case GuardCall::RangeBegins:
    ranges.push_back(told.text);
    operations_ += ranges.back() == question_.operation ? 1 : 0;
    break;
  case GuardCall::RangeEnds:
    if (!ranges.empty())
      ranges.pop_back();
    break;
  case GuardCall::Step:
    of(tid).step = told.address;
    break;
  default:
    break;
  }
  update(tid);
}

void WriteTracer::watch(pid_t tid, PageRange bytes) {
  WatchingProcess &process = of(tid);
  if (question_.most_bytes != 0)
    bytes.end = std::min(bytes.end, bytes.begin + question_.most_bytes);
  unwatch(tid, bytes.begin);
  // Behind the first watch it is always known who is in a call.
  stopOthers(tid, process.is_watched ? Which::Running : Which::All);
  process.is_watched = true;
  std::vector<PageRange> control_blocks;
  for (const auto &[other, space] : threads())
    if (const uint64_t at = thread(other).control_block; at != 0 && space == threads().at(tid))
      control_blocks.push_back({at - kControlBlockBefore, at + kControlBlockBytes});
  const auto mapped = ProcessMemory(static_cast<uint32_t>(process.pid)).maps();
  std::vector<ClosablePages> pages = pagesOf(mapped, bytes, pageBytes(), control_blocks);
  incomplete_ |= pages.empty() || pages.front().range.begin > bytes.begin || bytesOf(pages) < bytes.end - bytes.begin;
  if (pages.empty())
    return;
  setPages(tid, false); // some may be its own, too
  process.blocks.emplace_back(bytes, std::move(pages)).keep(process.reading());
  ++blocks_;
  watched_bytes_ += bytes.end - bytes.begin;
}

void WriteTracer::unwatch(pid_t tid, uint64_t address) {
  WatchingProcess &process = of(tid);
  const auto block =
      std::ranges::find_if(process.blocks, [&](const WatchedBlock &b) { return b.bytes().begin == address; });
  if (block == process.blocks.end())
    return;
  setPages(tid, false);
  process.blocks.erase(block);
}

bool WriteTracer::isWithin(pid_t tid) const {
  const std::vector<std::string> &ranges = states_.at(tid)->ranges;
  if (!ranges.empty())
    return ranges.back() == question_.operation;
  return question_.operation.empty() || isAsked(static_cast<const WatchingProcess &>(*threads().at(tid)));
}

bool WriteTracer::isAsked(const WatchingProcess &process) const {
  return question_.operation.empty() || std::ranges::any_of(threads(), [&](const auto &entry) {
           const auto state = states_.find(entry.first);
           return entry.second.get() == &process && state != states_.end() && !state->second->ranges.empty() &&
                  state->second->ranges.back() == question_.operation;
         });
}

} // namespace msleaks::analysis::inline second_run
