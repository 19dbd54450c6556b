// Reserves shared memory just before the process installs a seccomp filter, since the runtime cannot allocate memory
// under the filter. Call with Process::lock held.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Reserves rings for threads that begin later.
void reserveRings(Arena &arena) noexcept;
// Reserves room for the callers of hooks that are recorded later.
void reserveCallers(Arena &arena) noexcept;
// Reserves room for paths that are recorded later.
void reservePaths(Arena &arena) noexcept;

} // namespace msleaks::runtime
