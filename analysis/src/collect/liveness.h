// Whether a process image that wrote an arena is still there.
#pragma once

#include "msleaks/analysis/arena_reader.h"

namespace msleaks::analysis {

// False when the process has ended, or when its number belongs to somebody who started after the arena was made.
bool isStillRunning(const ArenaFacts &);

// The program and its arguments in one line.
std::string describeProcess(const ArenaFacts &);

} // namespace msleaks::analysis
