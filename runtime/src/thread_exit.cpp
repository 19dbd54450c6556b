#include "thread_exit.h"

#include "counters.h"
#include "ring.h"
#include "system.h"
#include "thread_path.h"

#include <climits>
#include <pthread.h>

namespace msleaks::runtime {
namespace {

constinit pthread_key_t key;
constinit bool has_key = false;

// glibc runs the destructors of pthread keys in several rounds. In the early rounds, other keys free memory. So this
// key's destructor requests another round each time, and ends the ring in the last round. ThreadSanitizer uses the last
// round for itself; no instrumented code may run in it.
#if defined(__SANITIZE_THREAD__)
constexpr uintptr_t kLastRound = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#else
constexpr uintptr_t kLastRound = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif

void onThreadExit(void *argument) {
  const ErrnoKept kept;
  const auto round = reinterpret_cast<uintptr_t>(argument);
  if (round < kLastRound) {
    ::pthread_setspecific(key, reinterpret_cast<void *>(round + 1));
    return;
  }
  Thread &thread = __msl_thread;
  thread.ended = true;
  endPaths(thread);
  endCounters();
  endRing(thread);
}

// Stores the time of the exit. The collector detects the end of a process only in its next round. If another process
// starts before that round, both processes would seem to have run at the same time.
[[gnu::destructor]] void sayExit() noexcept {
  const Arena *arena = __msl_process.arena;
  if (arena != nullptr && arena->header->pid == processId()) // processId() is 0 under a seccomp filter
    arena->header->exit_ns.store(monotonicNs(), std::memory_order_release);
}

} // namespace

bool watchThreadExit() noexcept {
  if (!has_key)
    has_key = ::pthread_key_create(&key, onThreadExit) == 0;
  if (!has_key)
    errno = EAGAIN;
  return has_key;
}

bool mayAnnounceThreadExit() noexcept {
  constexpr pthread_key_t kKeysInThread = 32; // glibc's number of keys whose values need no allocation
  return key < kKeysInThread || !isSandboxed();
}

void announceThreadExit() noexcept { ::pthread_setspecific(key, reinterpret_cast<void *>(uintptr_t{1})); }

void countWithoutRing() noexcept {
  if (const Arena *arena = __msl_process.arena)
    arena->header->dropped_no_ring.fetch_add(1, std::memory_order_relaxed);
  else if (session.unseen != nullptr)
    session.unseen->dropped.fetch_add(1, std::memory_order_relaxed);
}

void recordLate(uint64_t *words, unsigned slots) noexcept {
  const SignalsBlocked blocked;
  const ProcessLocked locked;
  Arena *arena = locked ? attach() : nullptr;
  if (arena == nullptr)
    return countWithoutRing();
  if (arena->late == nullptr)
    arena->late = openStream(*arena);
  if (arena->late == nullptr)
    return countWithoutRing();
  abi::RingHeader &ring = *arena->late;
  if (!hasRoom(ring, slots) && peek(ring.room_until) != kUnlimited)
    put(ring.room_until, roomUntil(ring, ring.tail.load(std::memory_order_acquire)));
  if (!hasRoom(ring, slots)) {
    addLocal(ring.produced, 1);
    addLocal(ring.dropped, 1);
    return;
  }
  words[1] = readClock(__msl_process.clock);
  writeEvent(ring, words, slots);
  ring.head.store(peek(ring.reserved), std::memory_order_release);
}

} // namespace msleaks::runtime
