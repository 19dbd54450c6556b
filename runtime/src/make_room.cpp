#include "make_room.h"

#include "ring.h"
#include "system.h"

namespace msleaks::runtime {
namespace {

constexpr unsigned kSpins = 200;
constexpr uint64_t kFirstSleepNs = 20'000, kLongestSleepNs = 500'000;
constexpr uint64_t kNsPerMs = 1'000'000;
// If the collector was stopped together with this process (^Z, a debugger), its heartbeat is old when both continue. So
// a thread waits at least this long before it takes an old heartbeat as a sign of a dead collector. If the timeout is
// shorter than this, it waits for one timeout.
constexpr uint64_t kGraceNs = 100 * kNsPerMs;
// If the collector is alive but reads nothing from the ring, a thread waits for at most this many timeouts. After that,
// it does not wait again until the collector has read from the ring.
constexpr uint64_t kMaxTimeouts = 10;
constexpr uint16_t kFullsBetweenTries = 1024;

bool refresh(abi::RingHeader &ring, unsigned slots) noexcept {
  put(ring.room_until, roomUntil(ring, ring.tail.load(std::memory_order_acquire)));
  return hasRoom(ring, slots);
}

bool handlerHasRoom(const abi::RingHeader &ring, unsigned slots) noexcept {
  return peek(ring.reserved) + slots <= handlersRoomUntil(ring, ring.tail.load(std::memory_order_acquire));
}

void sleepFor(uint64_t ns) noexcept {
  const timespec time{0, static_cast<long>(ns)};
  callKernel(SYS_nanosleep, &time, nullptr); // a signal may end the sleep early, so the caller checks again
}

// Whether the collector is dead: its last heartbeat is older than the timeout, and the wait has lasted for the grace
// time. collectorGone() finds an ordinary end or kill immediately. This function also finds a collector that was
// stopped, or whose end the kernel has not reported (kOwnerGone).
bool isDead(uint64_t heartbeat_ns, uint64_t began_ns, uint64_t now_ns) noexcept {
  const uint64_t timeout_ns = session.control->flags.block_timeout_ms * kNsPerMs;
  const uint64_t grace_ns = timeout_ns < kGraceNs ? timeout_ns : kGraceNs;
  return now_ns > heartbeat_ns + timeout_ns && now_ns > began_ns + grace_ns;
}

// Returns the ring's tail + 1. The result is never 0, which means "no mark".
uint64_t tailMark(const abi::RingHeader &ring) noexcept { return ring.tail.load(std::memory_order_relaxed) + 1; }

bool mayWait(const Thread &thread) noexcept {
  return session.control->flags.on_full == abi::OnFull::Block && !collectorGone() &&
         thread.impatient_tail != tailMark(*thread.ring);
}

// Waits for room without system calls, in a process with a seccomp filter. After a wait in vain, the thread does not
// wait again until the collector has read events.
bool spinForRoom(Thread &thread, unsigned slots) noexcept {
  abi::RingHeader &ring = *thread.ring;
  if (!mayWait(thread))
    return false;
  for (unsigned i = 0; i < kSpinsInSandbox; ++i, pauseBriefly())
    if (refresh(ring, slots))
      return true;
  thread.impatient_tail = tailMark(ring);
  return false;
}

bool waitForRoom(Thread &thread, unsigned slots) noexcept {
  abi::RingHeader &ring = *thread.ring;
  const abi::ControlPage &control = *session.control;
  for (unsigned i = 0; i < kSpins; ++i, pauseBriefly())
    if (refresh(ring, slots))
      return true;
  const uint64_t began_ns = monotonicNs();
  const uint64_t patience_ns = kMaxTimeouts * control.flags.block_timeout_ms * kNsPerMs;
  for (uint64_t sleep_ns = kFirstSleepNs; !refresh(ring, slots);
       sleep_ns = sleep_ns * 2 < kLongestSleepNs ? sleep_ns * 2 : kLongestSleepNs) {
    if (collectorGone() || !mayCallKernel())
      return false;
    const uint64_t heartbeat_ns = control.heartbeat_ns.load(std::memory_order_relaxed);
    const uint64_t now_ns = monotonicNs();
    if (isDead(heartbeat_ns, began_ns, now_ns)) {
      giveUp(heartbeat_ns);
      return false;
    }
    if (now_ns > began_ns + patience_ns) {
      thread.impatient_tail = tailMark(ring);
      return false;
    }
    sleepFor(sleep_ns);
  }
  return true;
}

} // namespace

abi::RingHeader *makeRoom(Thread &thread, unsigned slots, uint32_t depth) noexcept {
  abi::RingHeader *ring = thread.ring;
  if (depth >= kMaxNesting)
    return nullptr;
  if (peek(ring->room_until) == kUnlimited)
    return ring;
  if (depth > 0)
    return handlerHasRoom(*ring, slots) ? ring : nullptr;
  if (hasRoom(*ring, slots) || refresh(*ring, slots))
    return ring;
  if (isSandboxed())
    return spinForRoom(thread, slots) ? ring : nullptr;
  const bool may_grow = thread.no_growth_left == 0;
  if (!may_grow)
    --thread.no_growth_left;
  const bool may_wait = mayWait(thread);
  if (!may_grow && !may_wait)
    return nullptr;
  const uint64_t began_ns = monotonicNs();
  bool granted = may_grow && promote(thread) != nullptr;
  if (may_grow && !granted)
    thread.no_growth_left = kFullsBetweenTries;
  ring = thread.ring;
  if (!granted && may_wait)
    granted = waitForRoom(thread, slots);
  if (granted || may_wait)
    addLocal(ring->stalled_ns, monotonicNs() - began_ns);
  return granted ? ring : nullptr;
}

} // namespace msleaks::runtime
