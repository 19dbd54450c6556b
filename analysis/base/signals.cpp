#include "analysis/base/signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace msleaks::analysis::inline base {
namespace {

// Global variables, because a signal handler receives no object.
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

// Handles a signal in another way, and notes in `setup` how it was handled before.
void handle(int signal, const struct sigaction &action, SignalSetup &setup) {
  SignalSetup::Disposition &before = setup.dispositions.emplace_back();
  before.signal = signal;
  sigaction(signal, &action, &before.action);
}

void restore(const SignalSetup &setup) {
  for (const SignalSetup::Disposition &before : setup.dispositions)
    sigaction(before.signal, &before.action, nullptr);
}

} // namespace

StopSignals::StopSignals() {
  arrived_signal = 0;
  running_child = 0;
  sigprocmask(SIG_BLOCK, nullptr, &found_.mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{}, note{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN)
      continue;
    note.sa_sigaction = noteStop;
    note.sa_flags = SA_SIGINFO;
    handle(signal, note, found_);
  }
}

StopSignals::~StopSignals() { restore(found_); }

int StopSignals::arrived() const { return arrived_signal; }

void StopSignals::end() const {
  const int signal = arrived();
  std::signal(signal, SIG_DFL);
  raise(signal);
  _exit(128 + signal); // only reached if the signal is blocked
}

void StopSignals::passTo(pid_t child) {
  running_child = child;
  if (const int signal = arrived_signal; signal != 0) // it arrived before the child was known
    kill(child, signal);
}

void StopSignals::passToNobody() { running_child = 0; }

TerminalSignalsIgnored::TerminalSignalsIgnored() {
  sigprocmask(SIG_BLOCK, nullptr, &found_.mask);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  for (const int signal : {SIGINT, SIGQUIT})
    handle(signal, ignore, found_);
}

TerminalSignalsIgnored::~TerminalSignalsIgnored() { restore(found_); }

} // namespace msleaks::analysis::inline base
