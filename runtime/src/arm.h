// What has been armed (symbols __msl_arm and __msl_disarm).
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// For the child of a fork: tells its own .defs file what its parent had armed. With signals blocked and Process::lock
// held.
void redefineUnits(Arena &arena) noexcept;

} // namespace msleaks::runtime
