// Whether a process image that wrote an arena is still there.
#pragma once

#include "analysis/reach/arena_reader.h"

#include <cstdint>
#include <string>

namespace msleaks::analysis::inline reach {

// The number that the process has where we are: one of another pid namespace has two. 0 = it is not seen from here.
uint32_t pidHere(const ArenaFacts &);

// Whether `later` is what an exec made of the process that was `earlier`; or, where it is not known which processes
// they are, somebody who was given its number. Two copies of the runtime in one process replace nothing, nor do the
// first processes of two pid namespaces.
bool replaces(const ArenaFacts &later, const ArenaFacts &earlier);

// False when the process has ended, or when its number belongs to somebody who started after the arena was made.
bool isStillRunning(const ArenaFacts &);

// The program and its arguments in one line.
std::string describeProcess(const ArenaFacts &);

} // namespace msleaks::analysis::inline reach
