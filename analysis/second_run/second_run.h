// A program that is run under a tracer.
#pragma once

#include "analysis/second_run/tracer.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct TracedProgram {
  std::vector<std::string> command;
  std::string hooks;                    // our library
  std::vector<std::string> other_hooks; // libraries of the user's own
  std::string variable;                 // what the hooks are to do ("NAME=value"); empty: nothing
  bool stdout_to_stderr = false;
};

// Returns its exit status, as a shell reports it.
Result<int> runTraced(const TracedProgram &, Tracer &);

} // namespace msleaks::analysis::inline second_run
