// Stands between whoever started msleaks-run and the program: signals go down, the status comes up.
//
// The program stays in our process group, so what the terminal sends (Ctrl-C, Ctrl-Z, hang-up) reaches it without us;
// what somebody sends to our process alone is handed on.
#pragma once

#include "analysis/launch/program.h"

#include <functional>

namespace msleaks::driver {

class Supervisor {
public:
  // Holds back the signals to be handed on, so that none is lost before the program runs. Signals that are ignored stay
  // so.
  Supervisor();

  // This signal is ours: `toggle` of waitFor is called for it, and the program does not get it.
  void takeForToggle(int signal);

  // What the program must find as we found it.
  const analysis::SignalSetup &found() const { return found_; }

  // Waits for the end of the program and returns its wait status. `tick` is called a few times per second.
  int waitFor(pid_t program, const std::function<void()> &tick, const std::function<void()> &toggle);

  // Forgets what came for the program, and lets signals end us again as they would have at the start.
  void release();

private:
  void passOn(const siginfo_t &, pid_t program) const;

  analysis::SignalSetup found_{};
  sigset_t waited_{};
  int toggle_signal_ = 0;
};

// Ends our process as the program ended: the same exit status, or the same signal, without a core of our own.
[[noreturn]] void endAs(int wait_status);

} // namespace msleaks::driver
