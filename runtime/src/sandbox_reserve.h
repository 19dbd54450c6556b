// Shared memory that a process takes before it forbids itself system calls: later it cannot get any. With
// Process::lock held.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// For threads that begin later.
void reserveRings(Arena &arena) noexcept;
// For callers of hooks that are seen later.
void reserveCallers(Arena &arena) noexcept;
// For paths that are new later.
void reservePaths(Arena &arena) noexcept;

} // namespace msleaks::runtime
