// Runs a program for us until the program ends.
#pragma once

#include "analysis/base/program.h"
#include "analysis/base/signals.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline base {

struct ProgramCall {
  std::filesystem::path program;
  std::vector<std::string> command;
  std::filesystem::path folder;         // its current folder
  std::vector<std::string> environment; // "NAME=value"
  int output = -1, messages = -1;       // descriptors for its stdout and stderr; its stdin is empty
  bool is_short = false;                // it does not receive the signals that ask us to stop
};

// Returns the program's exit status, as a shell reports it.
Launched<int> runToEnd(const ProgramCall &, const StopSignals &);

} // namespace msleaks::analysis::inline base
