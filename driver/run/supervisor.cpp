#include "run/supervisor.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace msleaks::driver {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr timespec kTick{0, 250'000'000}, kNow{0, 0};

const std::pair<int, sighandler_t> kOurs[] = {
    {SIGCHLD, SIG_DFL}, // if the parent ignores this signal, the kernel drops the program's status
    {SIGPIPE, SIG_IGN}, // a closed stderr must not end msleaks-run before the trace is closed
    {SIGXFSZ, SIG_IGN}, // a trace that reaches `ulimit -f` must only stop the recording, by a failed write
};

bool isIgnored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

Supervisor::Supervisor() {
  sigemptyset(&waited_);
  for (const int signal : kPassedOn)
    if (!isIgnored(signal))
      sigaddset(&waited_, signal);
  sigaddset(&waited_, SIGCHLD);
  for (const auto &[signal, disposition] : kOurs) {
    struct sigaction ours{};
    ours.sa_handler = disposition;
    analysis::SignalSetup::Disposition &found = found_.dispositions.emplace_back();
    found.signal = signal;
    sigaction(signal, &ours, &found.action);
  }
  sigprocmask(SIG_BLOCK, &waited_, &found_.mask);
}

void Supervisor::takeForToggle(int signal) {
  toggle_signal_ = signal;
  struct sigaction ours{}; // the default action, because the kernel discards ignored signals
  ours.sa_handler = SIG_DFL;
  analysis::SignalSetup::Disposition &found = found_.dispositions.emplace_back();
  found.signal = signal;
  sigaction(signal, &ours, &found.action);
  sigaddset(&waited_, signal);
  sigprocmask(SIG_BLOCK, &waited_, nullptr);
}

void Supervisor::passOn(const siginfo_t &signal, pid_t program) const {
  const bool fromSomebody = signal.si_code <= 0; // SI_USER, SI_QUEUE, SI_TKILL: not from the terminal
  if (fromSomebody && signal.si_pid != program)
    kill(program, signal.si_signo);
  if (signal.si_signo == SIGTSTP)
    raise(SIGSTOP); // msleaks-run stops too, so the shell sees that the whole job has stopped
}

int Supervisor::waitFor(pid_t program, const std::function<void()> &tick, const std::function<void()> &toggle) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(program, &status, WNOHANG);
    if (ended == program && !WIFSTOPPED(status)) // waitpid also reports threads that the collector has stopped
      return status;
    if (ended < 0 && errno != EINTR)
      return -1;
    siginfo_t signal{};
    const int number = sigtimedwait(&waited_, &signal, &kTick);
    if (number > 0 && number == toggle_signal_)
      toggle();
    else if (number > 0 && number != SIGCHLD)
      passOn(signal, program);
    try {
      tick();
    } catch (const std::exception &) { // the progress line is not essential: its failure does not end the wait
    }
  }
}

void Supervisor::release() {
  if (toggle_signal_ != 0)
    std::signal(toggle_signal_, SIG_IGN); // a late signal must not end msleaks-run
  while (sigtimedwait(&waited_, nullptr, &kNow) > 0 || errno == EINTR)
    continue;
  sigprocmask(SIG_SETMASK, &found_.mask, nullptr);
}

void endAs(int wait_status) {
  if (wait_status == -1 || !WIFSIGNALED(wait_status))
    std::exit(wait_status == -1 ? EXIT_FAILURE : WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  std::fflush(nullptr);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::exit(128 + signal); // reached only if the signal did not end msleaks-run
}

} // namespace msleaks::driver
