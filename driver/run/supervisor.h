// Connects the parent of msleaks-run with the program: passes signals to the program, and the program's status to the
// parent.
//
// The program stays in our process group, so the terminal also sends its signals (Ctrl-C, Ctrl-Z, hang-up) to the
// program. We pass on only signals that were sent to our process alone.
#pragma once

#include "analysis/launch/program.h"

#include <functional>

namespace msleaks::driver {

class Supervisor {
public:
  // Blocks the signals that are passed on, so that none is lost before the program runs. Signals that are ignored stay
  // ignored.
  Supervisor();

  // Makes this signal ours: waitFor calls `toggle` for it, and does not pass it on to the program.
  void takeForToggle(int signal);

  // The signal state as we found it. The program must start with this state.
  const analysis::SignalSetup &found() const { return found_; }

  // Waits for the end of the program and returns its wait status. `tick` is called a few times per second.
  int waitFor(pid_t program, const std::function<void()> &tick, const std::function<void()> &toggle);

  // Drops signals that were meant for the program. Restores the signal mask, so that signals can end msleaks-run again.
  void release();

private:
  void passOn(const siginfo_t &, pid_t program) const;

  analysis::SignalSetup found_{};
  sigset_t waited_{};
  int toggle_signal_ = 0;
};

// Ends our process as the program ended: with the same exit status, or by the same signal but without a core dump.
[[noreturn]] void endAs(int wait_status);

} // namespace msleaks::driver
