// Signals of the terminal, while another program runs in its foreground.
#pragma once

#include "analysis/launch/program.h"

namespace msleaks::analysis {

// The terminal sends these to the program, too; we wait for its end.
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

} // namespace msleaks::analysis
