// Whether a process image with an arena still exists.
#pragma once

#include "analysis/reach/arena_reader.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline reach {

// Returns the process' pid in the collector's namespace: a process in another pid namespace has two pids. 0 = the
// process is not visible here.
uint32_t pidHere(const ArenaFacts &);

// Whether `later` is an image that an exec made of the process `earlier`. If it is not known which processes they are,
// `later` may also be another process that got the same pid. Two copies of the runtime in one process do not replace
// each other. The first processes of two pid namespaces do not, either.
bool replaces(const ArenaFacts &later, const ArenaFacts &earlier);

// False: the process has ended, or its pid belongs to a process that started after the arena was made.
bool isStillRunning(const ArenaFacts &);

// Returns the program and its arguments in one line.
std::string describeProcess(const ArenaFacts &);

} // namespace msleaks::analysis::inline reach
