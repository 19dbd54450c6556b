// Handles the end of a thread. Ends the thread's ring as late as pthread keys allow, and records or counts the thread's
// later events.
#pragma once

#include "arena.h"

namespace msleaks::runtime {

// Creates the pthread key, once. Returns false if no key is left. Call with Process::lock held.
bool watchThreadExit() noexcept;

// Makes the key's destructor run when the calling thread ends. Call this when the thread gets a ring or counters.
void announceThreadExit() noexcept;
// Whether announceThreadExit() may be called. It may not if libc would allocate memory for it under a seccomp filter.
bool mayAnnounceThreadExit() noexcept;

// Records an event of a thread whose ring has ended, in a ring that all such threads share. If there is no such ring,
// counts the event.
void recordLate(uint64_t *words, unsigned slots) noexcept;

void countWithoutRing() noexcept;

} // namespace msleaks::runtime
