// The end of a thread: its ring is given back as late as pthread keys allow, and what still comes is not lost.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Makes the key, once; false = no key left. With Process::lock held.
bool watchThreadExit() noexcept;

// The calling thread has a ring to give back.
void announceThreadExit() noexcept;
// False: libc would have to allocate for that, and a sandbox may forbid what malloc does.
bool mayAnnounceThreadExit() noexcept;

// An event of a thread whose ring has gone, into a ring that all such threads share, or counted.
void recordLate(uint64_t *words, unsigned slots) noexcept;

// An event that no ring takes.
void countWithoutRing() noexcept;

} // namespace msleaks::runtime
