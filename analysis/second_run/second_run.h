// Runs a program under a tracer.
#pragma once

#include "analysis/second_run/tracer.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct TracedProgram {
  std::vector<std::string> command;
  std::string hooks;                    // path of our hook library
  std::vector<std::string> other_hooks; // hook libraries of the user
  std::string variable;                 // tells the hooks what to do ("NAME=value"). Empty: they do nothing
  bool stdout_to_stderr = false;
};

// Returns the program's exit status, as a shell reports it.
Result<int> runTraced(const TracedProgram &, Tracer &);

} // namespace msleaks::analysis::inline second_run
