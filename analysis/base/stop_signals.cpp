#include "analysis/base/stop_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace msleaks::analysis::inline base {
namespace {

// A handler has no object.
std::atomic<int> arrived_signal;
std::atomic<pid_t> running_child;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

void noteStop(int signal, siginfo_t *about, void *) {
  const int error = errno;
  arrived_signal = signal;
  const pid_t child = running_child;
  if (child > 0 && about->si_code <= 0) // sent by a process, not by the terminal
    kill(child, signal);
  errno = error;
}

} // namespace

StopSignals::StopSignals() {
  arrived_signal = 0;
  running_child = 0;
  sigprocmask(SIG_BLOCK, nullptr, &found_.mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    SignalSetup::Disposition before{signal, {}};
    sigaction(signal, nullptr, &before.action);
    if (before.action.sa_handler == SIG_IGN)
      continue;
    struct sigaction note{};
    note.sa_sigaction = noteStop;
    note.sa_flags = SA_SIGINFO;
    sigaction(signal, &note, nullptr);
    found_.dispositions.push_back(before);
  }
}

StopSignals::~StopSignals() {
  for (const SignalSetup::Disposition &before : found_.dispositions)
    sigaction(before.signal, &before.action, nullptr);
}

int StopSignals::arrived() const { return arrived_signal; }

void StopSignals::end() const {
  const int signal = arrived();
  std::signal(signal, SIG_DFL);
  raise(signal);
  _exit(128 + signal); // the signal is blocked
}

void StopSignals::passTo(pid_t child) {
  running_child = child;
  if (const int signal = arrived_signal; signal != 0) // it arrived before the child was known
    kill(child, signal);
}

void StopSignals::passToNobody() { running_child = 0; }

} // namespace msleaks::analysis::inline base
