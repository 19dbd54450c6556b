// Handles signals in another way while this process runs another program.
#pragma once

#include "analysis/base/program.h"

namespace msleaks::analysis::inline base {

// Notes SIGINT, SIGTERM and SIGHUP instead of ending this process, so that it can first remove its files. Signals that
// are ignored stay ignored. At most one object exists at a time.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  // The signal that arrived, or 0.
  int arrived() const;
  // Ends this process by the signal that arrived. The caller has removed all our files.
  [[noreturn]] void end() const;
  const SignalSetup &found() const { return found_; } // the programs that we start get these signals back

  // Passes on to this child the signals of other processes. The terminal sends its signals to the child, too.
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
  const SignalSetup &found() const { return found_; } // the program that we start gets these signals back

private:
  SignalSetup found_{};
};

} // namespace msleaks::analysis::inline base
