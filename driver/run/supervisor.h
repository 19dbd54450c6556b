// Waits for the program, passes signals of other processes on to the program, and ends msleaks-run with the program's
// status.
//
// The program stays in the process group of msleaks-run. So the terminal sends its signals (Ctrl-C, Ctrl-Z, hang-up) to
// both. msleaks-run passes on only signals that another process has sent to msleaks-run.
#pragma once

#include "analysis/launch/program.h"

#include <functional>

namespace msleaks::driver {

class Supervisor {
public:
  // Blocks the signals that are passed on, so no signal is lost before the program runs. Signals that the parent has
  // ignored stay ignored.
  Supervisor();

  // Reserves this signal for msleaks-run: waitFor calls `toggle` for the signal, and does not pass it on to the
  // program.
  void takeForToggle(int signal);

  // The signal mask and actions that msleaks-run got from its parent. The program must start with these.
  const analysis::SignalSetup &found() const { return found_; }

  // Waits for the end of the program and returns its wait status. `tick` is called at least four times per second.
  int waitFor(pid_t program, const std::function<void()> &tick, const std::function<void()> &toggle);

  // Drops pending signals that were meant for the program. Restores the signal mask, so signals can end msleaks-run
  // again.
  void release();

private:
  void passOn(const siginfo_t &, pid_t program) const;

  analysis::SignalSetup found_{};
  sigset_t waited_{};
  int toggle_signal_ = 0;
};

// Ends msleaks-run as the program ended: with the same exit status, or by the same signal but without a core dump.
[[noreturn]] void endAs(int wait_status);

} // namespace msleaks::driver
