#include "analysis/second_run/tracer.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

namespace msleaks::analysis::inline second_run {
namespace {

// Ends the program, should we end first: nobody could open its blocks any more.
constexpr int kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                         PTRACE_O_TRACESECCOMP;

} // namespace

Result<void> Tracer::seize(pid_t child) {
  if (!kCanTrace)
    return fail("verify needs an x86-64 processor");
  if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0)
    return fail(fmt::format("the program cannot be traced (ptrace: {}); a container may need --cap-add=SYS_PTRACE",
                            std::strerror(errno)));
  program_ = child;
  threads_[child] = makeSpace(child); // it stops when it has called exec
  return {};
}

void Tracer::filterCalls() const {
  const sock_fprog program{static_cast<unsigned short>(filter_.size()), const_cast<sock_filter *>(filter_.data())};
  // Who is traced gets no more privileges by exec anyway.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

bool Tracer::next(Stop &stop) {
  if (!deferred_.empty()) {
    stop = deferred_.front();
    deferred_.pop_front();
    return true;
  }
  do
    stop.tid = waitpid(-1, &stop.status, __WALL);
  while (stop.tid < 0 && errno == EINTR);
  return stop.tid >= 0;
}

int Tracer::run() {
  for (Stop stop{}; !threads_.empty() && next(stop);) {
    if (WIFSTOPPED(stop.status)) {
      onStop(stop.tid, stop.status);
      continue;
    }
    threads_.erase(stop.tid);
    early_.erase(stop.tid);
    unborn_.erase(stop.tid);
    waiting_.erase(stop.tid);
    if (stop.tid == program_)
      status_ = stop.status;
  }
  return status_;
}

void Tracer::resume(pid_t tid, int signal) {
  ptrace(PTRACE_CONT, tid, nullptr, reinterpret_cast<void *>(static_cast<intptr_t>(signal)));
}

void Tracer::onStop(pid_t tid, int status) {
  if (!threads_.contains(tid)) {
    early_.insert(tid);
    return;
  }
  const int signal = WSTOPSIG(status), event = status >> kEventShift;
  if (event != 0)
    onEvent(tid, event, signal);
  else if (signal == (SIGTRAP | 0x80))
    onCallStop(tid);
  else
    onSignal(tid, signal);
}

void Tracer::onEvent(pid_t tid, int event, int signal) {
  if (event == PTRACE_EVENT_STOP) {
    // The first stop of a new thread, or one of its whole process, which lasts until somebody continues that.
    if (unborn_.erase(tid) != 0)
      onStart(tid);
    else if (signal == SIGTRAP)
      onInterrupted(tid);
    else
      ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);
    return;
  }
  if (event == PTRACE_EVENT_SECCOMP)
    return onCall(tid);
  if (event == PTRACE_EVENT_EXEC)
    onExec(tid);
  else if (event == PTRACE_EVENT_EXIT)
    onExit(tid);
  else if (event == PTRACE_EVENT_VFORK_DONE)
    waiting_.erase(tid);
  else
    onBirth(tid, event);
  resume(tid);
}

void Tracer::onExec(pid_t tid) {
  unsigned long former = 0;
  ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &former);
  if (static_cast<pid_t>(former) != tid)
    threads_.erase(static_cast<pid_t>(former));
  threads_[tid] = makeSpace(tid);
  onReplaced(tid);
}

// Its memory is there as long as one of its threads has not gone on from here.
void Tracer::onExit(pid_t tid) {
  AddressSpace &space = *threads_[tid];
  onThreadEnd(tid);
  if (--space.threads == 0)
    onSpaceEnd(space);
}

void Tracer::onBirth(pid_t parent, int event) {
  unsigned long child = 0;
  if (ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &child) != 0)
    return;
  const auto tid = static_cast<pid_t>(child);
  const std::shared_ptr<AddressSpace> space = threads_[parent];
  if (event == PTRACE_EVENT_FORK) { // its memory is a copy
    auto copy = copySpace(*space);
    copy->pid = tid;
    copy->threads = 1;
    threads_[tid] = std::move(copy);
  } else {
    threads_[tid] = space;
    ++space->threads;
  }
  if (event == PTRACE_EVENT_VFORK)
    waiting_.insert(parent);
  if (early_.erase(tid) != 0)
    onStart(tid);
  else
    unborn_.insert(tid);
}

} // namespace msleaks::analysis::inline second_run
