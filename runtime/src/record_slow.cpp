#include "make_room.h"
#include "ring.h"
#include "system.h"
#include "thread_exit.h"
#include "watch.h"
#include "watch_choice.h"

namespace msleaks::runtime {
namespace {

// Ends a record. The outermost record (depth 1) also publishes all events (step 6 of record.h).
void leave(Thread &thread, abi::RingHeader *ring) noexcept {
  if (depthOf(thread) > 1)
    return setState(thread, thread.state - kOneRecord);
  for (;;) {
    const uint64_t reserved = peek(ring->reserved);
    ring->head.store(reserved, std::memory_order_release);
    setState(thread, thread.state - kOneRecord);
    if (peek(ring->reserved) == reserved)
      return;
    setState(thread, thread.state + kOneRecord);
    ring = thread.ring;
  }
}

// Counts a dropped event. `produced` is stored first, so there are never more dropped events than produced events, even
// if the process is killed between the two stores.
void drop(abi::RingHeader &ring) noexcept {
  addLocal(ring.produced, 1);
  addLocal(ring.dropped, 1);
  __atomic_fetch_add(&ring.gap, 1, __ATOMIC_RELAXED);
  if (peek(ring.room_until) != kUnlimited)
    put(ring.room_until, 0); // so the next event also takes the slow path, and gets the flag kAfterGap
}

void write(abi::RingHeader &ring, uint64_t *words, unsigned slots) noexcept {
  if (__atomic_exchange_n(&ring.gap, 0, __ATOMIC_RELAXED) != 0)
    words[0] |= uint64_t{abi::kAfterGap} << abi::kFlagsShift;
  words[1] = readClock(__msl_process.clock);
  writeEvent(ring, words, slots);
}

// Whether the time cannot be read. On some machines, reading the time needs a system call, which the runtime must not
// make under a seccomp filter.
bool isClockClosed(const Thread &thread) noexcept {
  return isSandboxed() && (thread.has_no_clock || __msl_process.clock != abi::ClockKind::Tsc);
}

void recordHere(Thread &thread, uint64_t *words, unsigned slots) noexcept {
  const uint32_t depth = depthOf(thread);
  setState(thread, thread.state + kOneRecord);
  if (isClockClosed(thread) || ringOf(thread) == nullptr) {
    setState(thread, thread.state - kOneRecord);
    return countWithoutRing();
  }
  if (abi::RingHeader *ring = makeRoom(thread, slots, depth); ring != nullptr)
    write(*ring, words, slots);
  else
    drop(*thread.ring);
  leave(thread, thread.ring);
}

// Tells the watch (watch.h) about a block that is about to be freed, or that was allocated. Does nothing if the event
// interrupted another record.
void tellWatch(const Thread &thread, abi::EventKind about, const void *event) noexcept {
  const auto &header = *static_cast<const abi::EventHeader *>(event);
  if (!choosesBlocks() || header.kind != about || depthOf(thread) != 0 || thread.call.inside == kInsideRuntime)
    return;
  if (about == abi::EventKind::Free)
    blockGoes(*static_cast<const abi::FreeEvent *>(event));
  else
    blockComes(*static_cast<const abi::AllocEvent *>(event));
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_record_slow(const void *event, unsigned slots) noexcept {
  const ErrnoKept kept;
  uint64_t words[abi::kMaxEventSlots * abi::kSlotBytes / sizeof(uint64_t)];
  std::memcpy(words, event, slots * abi::kSlotBytes);
  Thread &thread = __msl_thread;
  ensureAttached(thread);
  if (!__msl_is_selected(words[0]))
    return; // only an attached process knows whether the session records this event
  tellWatch(thread, abi::EventKind::Free, event);
  if (thread.ended && isClockClosed(thread))
    countWithoutRing();
  else if (thread.ended)
    recordLate(words, slots);
  else
    recordHere(thread, words, slots);
  tellWatch(thread, abi::EventKind::Alloc, event);
}

void __msl_publish_again() noexcept {
  Thread &thread = __msl_thread;
  if (thread.state != __atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED))
    return;
  setState(thread, thread.state + kOneRecord);
  leave(thread, thread.ring);
}
