// A thread's ring: claimed with its first event, followed by a larger one when it fills up, ended with the thread.
#pragma once

#include "arena.h"
#include "system.h"

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Process::lock. With signals blocked. False as a bool: it cannot be had (class Locked).
uint32_t &wipedLock() noexcept;
class ProcessLocked : Locked {
public:
  ProcessLocked() noexcept : Locked(wipedLock()) {}
  using Locked::operator bool;
};

// Alone with the arena: no signal handler, no hook of ours and no other thread meanwhile. errno stays. False as a bool:
// the lock cannot be had.
class ArenaHeld {
public:
  explicit operator bool() const noexcept { return static_cast<bool>(locked_); }
  // The arena of this process, made if need be; null = none to be had, or the lock cannot be had.
  Arena *arena() const noexcept;

private:
  const ErrnoKept errno_kept_;
  const SignalsBlocked blocked_;
  const Inside inside_{__msl_thread};
  const ProcessLocked locked_;
};

// How far a ring may be filled when everything below `tail` has been stored (record.h says what the slack is for). The
// rest that only signal handlers fill keeps their events while the thread that they interrupted waits for room.
inline constexpr uint64_t kHandlersShare = 16;
inline uint64_t handlersRoomUntil(const abi::RingHeader &ring, uint64_t tail) noexcept {
  return tail + ring.capacity - kSlackSlots;
}
inline uint64_t roomUntil(const abi::RingHeader &ring, uint64_t tail) noexcept {
  return handlersRoomUntil(ring, tail) - ring.capacity / kHandlersShare;
}

// Records under way in this thread.
inline uint32_t depthOf(const Thread &thread) noexcept { return static_cast<uint32_t>(thread.state / kOneRecord); }

// writeSlots of an event whose length is known only now.
inline void writeEvent(abi::RingHeader &ring, const uint64_t *words, unsigned slots) noexcept {
  if (slots == 1)
    writeSlots<1>(ring, words);
  else
    writeSlots<2>(ring, words);
}

// A ring or the table of callers that could not be had is asked for again after so many events: each try costs system
// calls.
inline constexpr uint32_t kEventsBetweenTries = 1024;

// The arena of this process, made if need be; null = inert, or no collector is there. With signals blocked and
// Process::lock held.
Arena *attach() noexcept;

// The same for whoever holds nothing.
void ensureAttached(Thread &thread) noexcept;

// The thread's ring, claimed if need be; null = there is none to be had.
abi::RingHeader *ringOf(Thread &thread) noexcept;

// A larger ring that goes on where `thread.ring` stops, now thread.ring; null = none to be had. Only for an outermost
// record (depth 1).
abi::RingHeader *promote(Thread &thread) noexcept;

// From now on all events of this thread go the long way, where they are dropped; or no longer.
void forbidClock(Thread &thread, bool is_forbidden) noexcept;

// Nothing more comes from this thread.
void endRing(Thread &thread) noexcept;

// The ring of a new stream, or null. With signals blocked and Process::lock held.
abi::RingHeader *openStream(Arena &arena) noexcept;

} // namespace msleaks::runtime
