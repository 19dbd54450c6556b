// Arms the units of images that were loaded before the process had an arena. arm.cpp also defines the entry points
// __msl_arm… and __msl_disarm….
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Call with signals blocked and Process::lock held.
void armWaiting(Arena &arena) noexcept;

// Whether an image has armed units, though it is in a folder of libraries (abi::isLibraryImage). Call with
// Process::lock held.
bool isInstrumented(const abi::ImageDefinition &image) noexcept;

} // namespace msleaks::runtime
