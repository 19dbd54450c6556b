// Takes shared memory before the process forbids itself system calls, since it cannot get any later. Call with
// Process::lock held.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Takes rings for threads that begin later.
void reserveRings(Arena &arena) noexcept;
// Takes room for callers of hooks that are seen later.
void reserveCallers(Arena &arena) noexcept;
// Takes room for paths that are new later.
void reservePaths(Arena &arena) noexcept;

} // namespace msleaks::runtime
