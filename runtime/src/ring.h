// A thread's ring. It is claimed with the thread's first event, followed by a larger ring when it is full, and ended
// with the thread.
#pragma once

#include "arena.h"
#include "system.h"

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Holds Process::lock. Create the object with signals blocked. It is false as a bool if the lock was not taken (class
// Locked).
uint32_t &wipedLock() noexcept;
class ProcessLocked : Locked {
public:
  ProcessLocked() noexcept : Locked(wipedLock()) {}
  using Locked::operator bool;
};

// Gives this thread exclusive use of the arena. Meanwhile no signal handler, no hook of msleaks and no other thread
// uses the arena. errno is restored. The object is false as a bool if the lock was not taken.
class ArenaHeld {
public:
  explicit operator bool() const noexcept { return static_cast<bool>(locked_); }
  // Returns the arena of this process, which is made if there is none yet. Returns null if there can be no arena, or if
  // the lock was not taken.
  Arena *arena() const noexcept;

private:
  const ErrnoKept errno_kept_;
  const SignalsBlocked blocked_;
  const Inside inside_{__msl_thread};
  const ProcessLocked locked_;
};

// roomUntil() is the position up to which a ring may be filled when all events below `tail` are stored (record.h
// explains the slack). Signal handlers may fill the ring up to handlersRoomUntil(), while the thread that they
// interrupted waits for room.
inline constexpr uint64_t kHandlersShare = 16;
inline uint64_t handlersRoomUntil(const abi::RingHeader &ring, uint64_t tail) noexcept {
  return tail + ring.capacity - kSlackSlots;
}
inline uint64_t roomUntil(const abi::RingHeader &ring, uint64_t tail) noexcept {
  return handlersRoomUntil(ring, tail) - ring.capacity / kHandlersShare;
}

// Returns the number of records under way in this thread.
inline uint32_t depthOf(const Thread &thread) noexcept { return static_cast<uint32_t>(thread.state / kOneRecord); }

// Does writeSlots for an event whose length is not known at compile time.
inline void writeEvent(abi::RingHeader &ring, const uint64_t *words, unsigned slots) noexcept {
  if (slots == 1)
    writeSlots<1>(ring, words);
  else
    writeSlots<2>(ring, words);
}

// After a ring or the table of callers was refused, so many events pass before the next attempt, since each attempt
// costs system calls.
inline constexpr uint32_t kEventsBetweenTries = 1024;

// Returns the arena of this process, which is made if there is none yet. Returns null if the process records nothing,
// or if there is no collector. Call with signals blocked and Process::lock held.
Arena *attach() noexcept;

// Does the same for a caller that does not hold the lock.
void ensureAttached(Thread &thread) noexcept;

// Returns the thread's ring, which is claimed if there is none yet. Returns null if that is not possible.
abi::RingHeader *ringOf(Thread &thread) noexcept;

// Replaces `thread.ring` by a larger ring that continues the stream. Returns null if that is not possible. Only an
// outermost record (depth 1) may call this.
abi::RingHeader *promote(Thread &thread) noexcept;

// If `is_forbidden`, all events of this thread take the slow path, where they are dropped. Otherwise this state ends.
void forbidClock(Thread &thread, bool is_forbidden) noexcept;

// Ends the thread's stream.
void endRing(Thread &thread) noexcept;

// Returns the ring of a new stream, or null. Call with signals blocked and Process::lock held.
abi::RingHeader *openStream(Arena &arena) noexcept;

} // namespace msleaks::runtime
