// The options by which msMemScope selects what is recorded, under its names (docs/running.md).
#pragma once

#include "analysis/base/command_line.h"
#include "run/options.h"

#include <string>

namespace msleaks::driver {

// Declares --collect-mode, --analysis, --level, --device and --steps.
void declareMemscope(analysis::CommandLine &, RunOptions &);

// Translates a value of --call-stack that msMemScope has, such as "python:20,c:50", into one of msleaks: "all:50". Any
// other value stays as it is. Returns an error message, or an empty text.
std::string translateCallStack(std::string &value);

} // namespace msleaks::driver
