// Arms the units of images that were loaded before the process had an arena. arm.cpp also defines the entry points
// __msl_arm… and __msl_disarm….
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Call with signals blocked and Process::lock held.
void armWaiting(Arena &arena) noexcept;

} // namespace msleaks::runtime
