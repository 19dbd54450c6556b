// Handles the end of a thread. Its ring is ended as late as pthread keys allow, and later events are recorded or
// counted.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Creates the pthread key, once. Returns false if no key is left. Call with Process::lock held.
bool watchThreadExit() noexcept;

// Makes the key's destructor run when the calling thread ends, since the thread has a ring or counters.
void announceThreadExit() noexcept;
// Returns false if libc would allocate memory in announceThreadExit() and a sandbox may forbid malloc's system calls.
bool mayAnnounceThreadExit() noexcept;

// Records an event of a thread whose ring has ended, in a ring that all such threads share. If that is not possible,
// counts the event.
void recordLate(uint64_t *words, unsigned slots) noexcept;

// Counts an event for which there is no ring.
void countWithoutRing() noexcept;

} // namespace msleaks::runtime
