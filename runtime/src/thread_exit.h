// The end of a thread: its ring is given back as late as pthread keys allow, and later events are not lost.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Makes the key, once; false = no key left. Call with Process::lock held.
bool watchThreadExit() noexcept;

// Notes that the calling thread has a ring to give back.
void announceThreadExit() noexcept;
// Returns false if libc would have to allocate for that, since a sandbox may forbid malloc's system calls.
bool mayAnnounceThreadExit() noexcept;

// Records an event of a thread whose ring has gone, in a ring that all such threads share, or counts it.
void recordLate(uint64_t *words, unsigned slots) noexcept;

// Counts an event that no ring takes.
void countWithoutRing() noexcept;

} // namespace msleaks::runtime
