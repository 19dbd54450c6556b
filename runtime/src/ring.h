// A thread's ring: claimed with its first event, followed by a larger one when it fills up, ended with the thread.
#pragma once

#include "arena.h"
#include "system.h"

#include "msleaks/runtime/record.h"

namespace msleaks::runtime {

// Takes Process::lock. Create it with signals blocked. It is false as a bool if it did not get the lock (class Locked).
uint32_t &wipedLock() noexcept;
class ProcessLocked : Locked {
public:
  ProcessLocked() noexcept : Locked(wipedLock()) {}
  using Locked::operator bool;
};

// Gives exclusive use of the arena: no signal handler, no hook of ours and no other thread runs in it meanwhile. errno
// stays. It is false as a bool if it did not get the lock.
class ArenaHeld {
public:
  explicit operator bool() const noexcept { return static_cast<bool>(locked_); }
  // Returns the arena of this process, made if need be; null = there is none, or the lock cannot be taken.
  Arena *arena() const noexcept;

private:
  const ErrnoKept errno_kept_;
  const SignalsBlocked blocked_;
  const Inside inside_{__msl_thread};
  const ProcessLocked locked_;
};

// Returns the position up to which a ring may be filled when all below `tail` is stored (record.h explains the slack).
// Only signal handlers may fill the rest, while the thread that they interrupted waits for room.
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

// After a refused ring or table of callers, this many events pass before the next try: each try costs system calls.
inline constexpr uint32_t kEventsBetweenTries = 1024;

// Returns the arena of this process, made if need be; null = inert, or there is no collector. Call with signals blocked
// and Process::lock held.
Arena *attach() noexcept;

// The same for a caller that does not hold the lock.
void ensureAttached(Thread &thread) noexcept;

// Returns the thread's ring, claimed if need be; null = there is none.
abi::RingHeader *ringOf(Thread &thread) noexcept;

// Makes a larger ring that continues `thread.ring` and becomes thread.ring; null = there is none. Only for an outermost
// record (depth 1).
abi::RingHeader *promote(Thread &thread) noexcept;

// Makes all events of this thread take the slow path, where they are dropped; or ends this.
void forbidClock(Thread &thread, bool is_forbidden) noexcept;

// Ends the thread's stream.
void endRing(Thread &thread) noexcept;

// Returns the ring of a new stream, or null. Call with signals blocked and Process::lock held.
abi::RingHeader *openStream(Arena &arena) noexcept;

} // namespace msleaks::runtime
