#include "full.h"
#include "ring.h"
#include "system.h"
#include "thread_exit.h"

extern "C" void __msl_record_slow(uint64_t *words, unsigned slots) noexcept {
  using namespace msleaks;
  using namespace msleaks::runtime;
  const ErrnoKept kept;
  Thread &thread = __msl_thread;
  ensureAttached(thread);
  if (!isEnabled(static_cast<abi::EventKind>(words[0] & 0xff)))
    return; // until now it was not known
  if (thread.ended)
    return recordLate(words, slots);
  const uint32_t depth = thread.depth;
  setDepth(thread, depth + 1);
  if (ringOf(thread) == nullptr) {
    setDepth(thread, depth);
    return countWithoutRing();
  }
  abi::RingHeader *ring = makeRoom(thread, slots, depth);
  if (ring == nullptr) {
    ring = thread.ring;
    addLocal(ring->dropped, 1);
    addLocal(ring->produced, 1);
    __atomic_fetch_add(&ring->gap, 1, __ATOMIC_RELAXED);
    put(ring->room_until, 0); // the next one comes here too, and carries the mark
    return leave(thread, ring, depth);
  }
  if (__atomic_exchange_n(&ring->gap, 0, __ATOMIC_RELAXED) != 0)
    words[0] |= uint64_t{abi::kAfterGap} << 24;
  words[1] = readClock(__msl_process.clock);
  writeSlots(*ring, words, slots);
  leave(thread, ring, depth);
}
