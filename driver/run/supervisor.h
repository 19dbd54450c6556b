// Stands between the parent of msleaks-run and the program. It passes signals down and the status up.
//
// The program stays in our process group, so signals of the terminal (Ctrl-C, Ctrl-Z, hang-up) reach it without us.
// Signals to our process alone are passed on.
#pragma once

#include "analysis/launch/program.h"

#include <functional>

namespace msleaks::driver {

class Supervisor {
public:
  // Blocks the signals that are passed on, so that none is lost before the program runs. Ignored signals stay ignored.
  Supervisor();

  // Makes this signal ours: `toggle` of waitFor is called for it, and the program does not get it.
  void takeForToggle(int signal);

  // The signal state that the program must find as we found it.
  const analysis::SignalSetup &found() const { return found_; }

  // Waits for the end of the program and returns its wait status. `tick` is called a few times per second.
  int waitFor(pid_t program, const std::function<void()> &tick, const std::function<void()> &toggle);

  // Forgets signals that came for the program, and lets signals end us again as at the start.
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
