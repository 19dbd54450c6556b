#include "analysis/launch/terminal_signals.h"

#include <csignal>

namespace msleaks::analysis {

TerminalSignalsIgnored::TerminalSignalsIgnored() {
  sigprocmask(SIG_BLOCK, nullptr, &found_.mask);
  for (const int signal : {SIGINT, SIGQUIT}) {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    SignalSetup::Disposition &before = found_.dispositions.emplace_back();
    before.signal = signal;
    sigaction(signal, &ignore, &before.action);
  }
}

TerminalSignalsIgnored::~TerminalSignalsIgnored() {
  for (const SignalSetup::Disposition &before : found_.dispositions)
    sigaction(before.signal, &before.action, nullptr);
}

} // namespace msleaks::analysis
