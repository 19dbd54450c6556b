// Signals that this process handles otherwise while another program runs for it.
#pragma once

#include "analysis/base/program.h"

namespace msleaks::analysis::inline base {

// Notes SIGINT, SIGTERM and SIGHUP instead of ending this process, so that it can remove what it made. Ignored signals
// stay ignored. At most one object exists at a time.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  // The signal that arrived; 0: none.
  int arrived() const;
  // Ends this process by the signal that arrived. Nothing of ours may be left to remove.
  [[noreturn]] void end() const;
  const SignalSetup &found() const { return found_; } // for the programs

  // This child receives the signals that only we were sent. A signal of the terminal reaches it anyway.
  static void passTo(pid_t child);
  static void passToNobody();

private:
  SignalSetup found_{};
};

// Ignores SIGINT and SIGQUIT while another program runs in the foreground. The terminal sends them to the program, too,
// and we wait for its end.
class TerminalSignalsIgnored {
public:
  TerminalSignalsIgnored();
  ~TerminalSignalsIgnored();
  TerminalSignalsIgnored(const TerminalSignalsIgnored &) = delete;
  TerminalSignalsIgnored &operator=(const TerminalSignalsIgnored &) = delete;
  const SignalSetup &found() const { return found_; } // for the program

private:
  SignalSetup found_{};
};

} // namespace msleaks::analysis::inline base
