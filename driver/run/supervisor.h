// Waits for the program, passes signals of other processes on to it, and ends msleaks-run with the program's status.
//
// The program stays in the process group of msleaks-run, so the terminal sends its signals (Ctrl-C, Ctrl-Z, hang-up) to
// both. msleaks-run passes on only the signals that another process, except the program, has sent to it.
#pragma once

#include "analysis/base/program.h"

#include <functional>

namespace msleaks::driver {

class Supervisor {
public:
  // Blocks the signals that are passed on, so none is lost before the program runs. Signals that the parent has ignored
  // stay ignored.
  Supervisor();

  // Reserves this signal for msleaks-run: waitFor() calls `toggle`, and does not pass the signal on.
  void takeForToggle(int signal);

  // The signal mask and actions that msleaks-run got from its parent. The program must start with these.
  const analysis::SignalSetup &found() const { return found_; }

  // Waits for the end of the program and returns its wait status. Calls `tick` after each signal, and after 250 ms
  // without a signal.
  int waitFor(pid_t program, const std::function<void()> &tick, const std::function<void()> &toggle);

  // Drops pending signals that were meant for the program, and restores the signal mask. From now on signals can end
  // msleaks-run.
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
