// Claims a ring for a thread at its first event, and replaces a full ring by a larger ring. Ends the ring when the
// thread ends.
#pragma once

#include "arena.h"
#include "system.h"

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Holds Process::lock. Create the object with signals blocked. If the lock was not acquired, the object is false as a
// bool.
uint32_t &wipedLock() noexcept;
class ProcessLocked : Locked {
public:
  ProcessLocked() noexcept : Locked(wipedLock()) {}
  using Locked::operator bool;
};

// Holds Process::lock with signals blocked. While the object exists, calls that this thread makes are not recorded.
// errno is restored at the end. If the lock was not acquired, the object is false as a bool.
class ArenaHeld {
public:
  explicit operator bool() const noexcept { return static_cast<bool>(locked_); }
  // Returns the arena of this process, and makes it if necessary. Returns null if there can be no arena, or if the lock
  // was not acquired.
  Arena *arena() const noexcept;

private:
  const ErrnoKept errno_kept_;
  const SignalsBlocked blocked_;
  const Inside inside_{__msl_thread};
  const ProcessLocked locked_;
};

// While a thread waits for room, its signal handlers may still record: 1 / kHandlersShare of the ring is for them only.
// handlersRoomUntil() and roomUntil() return the positions up to which the handlers and the thread may fill the ring.
// `tail` is the position up to which the collector has stored all events. record.h explains kSlackSlots.
inline constexpr uint64_t kHandlersShare = 16;
inline uint64_t handlersRoomUntil(const abi::RingHeader &ring, uint64_t tail) noexcept {
  return tail + ring.capacity - kSlackSlots;
}
inline uint64_t roomUntil(const abi::RingHeader &ring, uint64_t tail) noexcept {
  return handlersRoomUntil(ring, tail) - ring.capacity / kHandlersShare;
}

// Returns the number of unfinished records of this thread.
inline uint32_t depthOf(const Thread &thread) noexcept { return static_cast<uint32_t>(thread.state / kOneRecord); }

// Calls writeSlots for an event whose length is not known at compile time.
inline void writeEvent(abi::RingHeader &ring, const uint64_t *words, unsigned slots) noexcept {
  if (slots == 1)
    writeSlots<1>(ring, words);
  else
    writeSlots<2>(ring, words);
}

// If a request for shared memory (such as a ring) or for a definition was refused, this many events pass before the
// next attempt. Each attempt costs system calls.
inline constexpr uint16_t kEventsBetweenTries = 1024;

// Returns the arena of this process, and makes it if necessary. Returns null if the process records nothing, or if it
// must wait for a collector (waitsForCollector). Call with signals blocked and Process::lock held.
Arena *attach() noexcept;

// Makes the arena of this process if there is none. The caller must not hold the lock.
void ensureAttached(Thread &thread) noexcept;

// Returns the thread's ring, and claims one if necessary. Returns null if no ring can be claimed.
abi::RingHeader *ringOf(Thread &thread) noexcept;

// Replaces `thread.ring` by a larger ring that continues the stream. Returns null if no larger ring can be claimed.
// Call this only in an outermost record (depth 1), or outside of records.
abi::RingHeader *promote(Thread &thread) noexcept;

// Forbids this thread to read the clock, or allows it again. While the clock is forbidden, all events of the thread
// take the slow path, which drops them.
void forbidClock(Thread &thread, bool is_forbidden) noexcept;

void endRing(Thread &thread) noexcept;

// Returns the ring of a new stream, or null. Call with signals blocked and Process::lock held.
abi::RingHeader *openStream(Arena &arena) noexcept;

} // namespace msleaks::runtime
