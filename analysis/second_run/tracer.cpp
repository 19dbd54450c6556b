#include "analysis/second_run/tracer.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

using Where = TracedThread::Where;

// If the tracer ends first, the kernel ends the program. Without a tracer, closed pages and filtered calls would fail.
constexpr int kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                         PTRACE_O_TRACESECCOMP;

// Returns the number that belongs to a thread's event: of the new child, the former thread number, or the wait status.
unsigned long eventMessage(pid_t tid) {
  unsigned long message = 0;
  return ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &message) == 0 ? message : 0;
}

std::shared_ptr<AddressSpace> copyFor(pid_t child, const AddressSpace &parents) {
  auto copy = std::make_shared<AddressSpace>(parents);
  copy->pid = child;
  return copy;
}

// If our own interruption has ended a call with an error, the thread makes this call again. The kernel itself repeats
// most other calls.
bool repeatsInterrupted(TracedThread &thread) {
  if (!std::exchange(thread.is_interrupted, false))
    return false;
  const auto state = thread.callState();
  return state && state->call.number < INT32_MAX && state->result == -EINTR && thread.repeatCall();
}

// Whether all other threads with the same process or memory are ending.
bool isLast(const std::map<pid_t, TracedThread> &threads, const TracedThread &thread, auto member) {
  return std::ranges::none_of(threads, [&](const auto &entry) {
    const TracedThread &other = entry.second;
    return &other != &thread && other.where != Where::Ending && other.*member == thread.*member;
  });
}

} // namespace

Result<void> Tracer::seize(pid_t child) {
  if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0)
    return fail(fmt::format("the program cannot be traced (ptrace: {}); a container may need --cap-add=SYS_PTRACE",
                            std::strerror(errno)));
  program_ = child;
  alive_.insert(child);
  add(child, child).where = Where::Running; // its first stop is after exec
  return {};
}

void Tracer::filterCalls() const {
  const sock_fprog program{static_cast<unsigned short>(filter_.size()), const_cast<sock_filter *>(filter_.data())};
  // exec grants no privileges to a traced program anyway.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void Tracer::runToExec() {
  while (!is_started_ && threads_.contains(program_) && next())
    ;
}

int Tracer::run() {
  while (next())
    ;
  return status_;
}

// Handles the next report of a thread. Returns false if no thread is left, not even one whose birth was not reported.
bool Tracer::next() {
  Stop stop{};
  if (!deferred_.empty()) {
    stop = deferred_.front();
    deferred_.pop_front();
  } else {
    do
      stop.tid = waitpid(-1, &stop.status, __WALL);
    while (stop.tid < 0 && errno == EINTR);
    if (stop.tid < 0)
      return false;
  }
  if (!WIFSTOPPED(stop.status))
    onEnded(stop.tid, stop.status);
  else if (const auto thread = threads_.find(stop.tid); thread != threads_.end())
    onStop(thread->second, stop.status);
  else
    onEarly(stop.tid, stop.status);
  adoptOrphans();
  return true;
}

// waitpid reports the end of a process's first thread last. A thread that is killed may end without a stop.
void Tracer::onEnded(pid_t tid, int status) {
  threads_.erase(tid);
  early_.erase(tid);
  missed_ += alive_.erase(tid);
  if (tid == program_)
    status_ = status;
}

// Handles a stop of an unknown thread. If its process is known, the thread has the memory of this process. If not, it
// is a new process, and waits until its parent reports the birth.
void Tracer::onEarly(pid_t tid, int status) {
  const auto memberOf = [&](std::string_view number) {
    const auto process = static_cast<pid_t>(std::strtol(statusOf(tid, number).c_str(), nullptr, 10));
    return std::ranges::find_if(threads_, [&](const auto &entry) { return entry.second.process == process; });
  };
  if (const auto member = memberOf("Tgid:"); member != threads_.end())
    return onStop(add(tid, member->second.process, member->second.space), status);
  const auto parent = memberOf("PPid:");
  early_[tid] = {status, parent != threads_.end() ? parent->second.space : nullptr};
}

// If a parent was killed, or another thread of it has called exec, it cannot report the birth of a child any more. The
// child then continues with a copy of the parent's memory.
void Tracer::adoptOrphans() {
  for (auto early = early_.begin(); early != early_.end();) {
    const auto [tid, orphan] = *early++;
    const AddressSpace *const memory = orphan.memory.get();
    const bool is_lost =
        memory != nullptr
            ? std::ranges::none_of(threads_, [&](const auto &entry) { return entry.second.space.get() == memory; })
            : !awaitsBirth(tid);
    if (is_lost)
      add(tid, tid, memory != nullptr ? copyFor(tid, *memory) : nullptr);
  }
}

// Whether a thread will report the birth of this child, whose parent is not a traced process. Perhaps the parent was
// killed. With CLONE_PARENT, our own process is the parent. A thread that has made a child reports the birth first when
// it is stopped.
bool Tracer::awaitsBirth(pid_t child) {
  if (isBirthDeferred(child))
    return true;
  for (auto &[tid, thread] : threads_)
    if (thread.where == Where::Running && !thread.waits_for_child)
      stop(thread);
  return isBirthDeferred(child);
}

bool Tracer::isBirthDeferred(pid_t child) const {
  return std::ranges::any_of(deferred_, [&](const Stop &stop) {
    const int event = WIFSTOPPED(stop.status) ? stop.status >> kEventShift : 0;
    return (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) &&
           static_cast<pid_t>(eventMessage(stop.tid)) == child;
  });
}

TracedThread &Tracer::add(pid_t tid, pid_t process, std::shared_ptr<AddressSpace> space) {
  if (!space)
    space = std::make_shared<AddressSpace>(tid);
  if (const auto early = early_.extract(tid))
    deferred_.push_back({tid, early.mapped().status});
  return threads_.try_emplace(tid, this, tid, process, std::move(space)).first->second;
}

void Tracer::resume(TracedThread &thread, int signal) {
  const bool follows = observer_.followsCalls(thread);
  thread.in_call = thread.in_call && follows;
  if (thread.where != Where::Ending)
    thread.where = Where::Running;
  ptrace(follows ? PTRACE_SYSCALL : PTRACE_CONT, thread.tid(), nullptr, static_cast<intptr_t>(signal));
}

void Tracer::onStop(TracedThread &thread, int status) {
  const int signal = WSTOPSIG(status), event = status >> kEventShift;
  if (event == PTRACE_EVENT_STOP)
    return onEventStop(thread, signal);
  thread.where = Where::Stopped;
  std::optional<int> delivered = 0;
  if (event != 0)
    onEvent(thread, event);
  else if (signal == kCallStop)
    onCallStop(thread);
  else
    delivered = observer_.signalled(thread, signal);
  if (delivered)
    resume(thread, *delivered);
}

// Handles three stops: the first stop of a new thread, a stop by stopOthers, and a stop of the whole process. The last
// one lasts until SIGCONT arrives.
void Tracer::onEventStop(TracedThread &thread, int signal) {
  if (thread.where == Where::Unborn) {
    thread.where = Where::Stopped;
    if (thread.process == thread.tid())
      alive_.insert(thread.process);
    observer_.starts(thread);
  } else if (signal == SIGTRAP) {
    repeatsInterrupted(thread);
  } else {
    thread.where = Where::Running;
    ptrace(PTRACE_LISTEN, thread.tid(), nullptr, nullptr);
    return;
  }
  resume(thread);
}

void Tracer::onEvent(TracedThread &thread, int event) {
  switch (event) {
  case PTRACE_EVENT_SECCOMP:
    return onCall(thread);
  case PTRACE_EVENT_EXEC:
    return onExec(thread);
  case PTRACE_EVENT_EXIT:
    return onExit(thread);
  case PTRACE_EVENT_VFORK_DONE:
    thread.waits_for_child = false;
    return;
  default:
    return onBirth(thread, event);
  }
}

void Tracer::onCall(TracedThread &thread) {
  const auto state = thread.callState();
  if (!state || !is_started_)
    return;
  thread.in_call = true;
  thread.space->instruction = state->instruction;
  observer_.called(thread, state->call);
}

void Tracer::onCallStop(TracedThread &thread) {
  thread.in_call = !thread.in_call;
  const auto state = thread.callState();
  if (!state)
    return;
  if (thread.in_call) {
    thread.space->instruction = state->instruction;
    observer_.callBegins(thread, state->call);
  } else {
    observer_.callEnds(thread, repeatsInterrupted(thread) ? kBegunAgain : state->result);
  }
}

void Tracer::onBirth(TracedThread &parent, int event) {
  const auto tid = static_cast<pid_t>(eventMessage(parent.tid()));
  if (tid == 0)
    return;
  const bool is_thread = syscall(SYS_tgkill, parent.process, tid, 0) == 0;
  add(tid, is_thread ? parent.process : tid, event == PTRACE_EVENT_FORK ? copyFor(tid, *parent.space) : parent.space);
  parent.waits_for_child |= event == PTRACE_EVENT_VFORK;
}

void Tracer::onExec(TracedThread &thread) {
  const pid_t tid = thread.tid();
  if (const auto former = static_cast<pid_t>(eventMessage(thread.tid())); former != tid)
    threads_.erase(former);
  thread = TracedThread(this, tid, tid, std::make_shared<AddressSpace>(tid));
  is_started_ = true;
  observer_.replaced(thread);
}

bool Tracer::isAlone(const TracedThread &thread) const { return isLast(threads_, thread, &TracedThread::space); }

// The memory of a process stays mapped until its last thread continues from this stop. A thread that another thread
// kills may not stop here. So the observer is told the end of a process when the thread stops that ends the process.
void Tracer::onExit(TracedThread &thread) {
  thread.where = Where::Ending;
  const auto state = thread.callState();
  const bool ends_all =
      WIFSIGNALED(static_cast<int>(eventMessage(thread.tid()))) || (state && state->call.number == SYS_exit_group);
  TraceObserver::Last last;
  last.of_process = is_started_ && (ends_all || isLast(threads_, thread, &TracedThread::process)) &&
                    alive_.erase(thread.process) != 0;
  last.of_memory = isAlone(thread);
  processes_ += last.of_process ? 1 : 0;
  observer_.ends(thread, last);
}

void Tracer::stopOthers(const TracedThread &thread, bool also_in_calls) {
  for (auto &[tid, other] : threads_)
    if (&other != &thread && other.space == thread.space && other.where == Where::Running &&
        (!other.in_call || also_in_calls) && !other.waits_for_child)
      stop(other);
}

// A thread that has stopped already must not be interrupted: the interruption would end its next call.
void Tracer::stop(TracedThread &thread) {
  int status = 0;
  if (waitpid(thread.tid(), &status, __WALL | WNOHANG) != thread.tid()) {
    thread.is_interrupted = ptrace(PTRACE_INTERRUPT, thread.tid(), nullptr, nullptr) == 0;
    const auto stopped = thread.is_interrupted ? waitForStop(thread.tid()) : std::nullopt;
    if (!stopped)
      return;
    status = *stopped;
  }
  defer(thread, status);
  thread.where = Where::Stopped;
}

bool Tracer::runTo(const TracedThread &thread, int request, int signal, int expected) {
  ptrace(static_cast<__ptrace_request>(request), thread.tid(), nullptr, static_cast<intptr_t>(signal));
  const auto status = waitForStop(thread.tid());
  if (status && isSignalStop(*status) && WSTOPSIG(*status) == expected)
    return true;
  if (status)
    defer(thread, *status);
  return false;
}

} // namespace msleaks::analysis::inline second_run
