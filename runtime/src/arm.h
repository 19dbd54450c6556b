// Arms the instrumented units of images. arm.cpp also defines the entry points __msl_arm… and __msl_disarm….
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Arms the images that were loaded before the process had an arena. Call with signals blocked and Process::lock held.
void armWaiting(Arena &arena) noexcept;

} // namespace msleaks::runtime
