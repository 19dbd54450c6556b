// The hot path: put one event into the thread's ring.
//
// No lock, no system call, no allocation; safe in signal handlers that interrupt it at any instruction. How, with D the
// thread's depth and R the ring's `reserved` (positions below R are taken):
//
//   1. D += 1                         not atomic: a handler leaves D as it found it
//   2. R + slots + slack <= room?     otherwise the slow path
//   3. at = R, R += slots             one instruction (xadd, not locked: only this thread and its handlers write R)
//   4. write the slots
//   5. if D was 0:  head = R; D = 0; if R has changed meanwhile: D = 1 and again
//      otherwise:   D -= 1            whoever was interrupted publishes for us
//
// A handler that comes
//   before 3       takes its slots first. Then R may have grown since 2: each interrupted record adds at most one
//                  event beyond what it checked, which is what the slack is for (kMaxNesting is checked as well).
//   between 3 and 5's load of R   takes slots above ours, writes them and returns: handlers nest, so when we go on nothing
//                  below R is unwritten, and head = R publishes its events and ours.
//   between the load of R and D = 0   sees D > 0 and publishes nothing, but R has changed: we go round again.
//   after D = 0    is outermost itself and publishes what it wrote. R has changed, so we may go round; nothing happens.
// head never steps back, because only a record with D = 1 stores it and no handler stores it meanwhile.
// The ring that a record works on cannot be replaced under it: that happens only at D = 1 of its own thread, so the
// pointer is loaded after 1 and not used to write after D = 0.
#pragma once

#include "msleaks/runtime/clock.h"
#include "msleaks/runtime/thread.h"

#include <cstring>

extern "C" {
// The same with every obstacle considered: no session, no ring, a full ring, an ended thread.
[[gnu::visibility("default"), gnu::cold]] void __msl_record_slow(uint64_t *words, unsigned slots) noexcept;
}

namespace msleaks::runtime {

inline constexpr uint32_t kMaxNesting = 16;
inline constexpr uint64_t kSlackSlots = uint64_t{kMaxNesting} * abi::kMaxEventSlots;
inline constexpr uint64_t kUnlimited = UINT64_MAX; // room_until of a flight recorder

// The producer's own words are shared with its signal handlers and with a reader that only looks.
[[gnu::always_inline]] inline uint64_t peek(const uint64_t &word) noexcept { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
[[gnu::always_inline]] inline void put(uint64_t &word, uint64_t value) noexcept { __atomic_store_n(&word, value, __ATOMIC_RELAXED); }
[[gnu::always_inline]] inline void setDepth(Thread &thread, uint32_t depth) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&thread.depth, depth, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Adds in one instruction and returns the value before: indivisible for signal handlers, not for other processors.
[[gnu::always_inline]] inline uint64_t fetchAddLocal(uint64_t &word, uint64_t count) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("xaddq %0, %1" : "+r"(count), "+m"(word) : : "memory", "cc");
  return count;
#else
  const uint64_t before = __atomic_fetch_add(&word, count, __ATOMIC_RELAXED);
  std::atomic_thread_fence(std::memory_order_release); // a reader in `overwrite` must see it before the slots change
  return before;
#endif
}

[[gnu::always_inline]] inline void addLocal(uint64_t &word, uint64_t count) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("addq %1, %0" : "+m"(word) : "er"(count) : "cc");
#else
  __atomic_fetch_add(&word, count, __ATOMIC_RELAXED);
#endif
}

[[gnu::always_inline]] inline bool isEnabled(abi::EventKind kind) noexcept {
  return (__atomic_load_n(&__msl_enabled, __ATOMIC_RELAXED)->load(std::memory_order_relaxed) & abi::enabledBit(kind)) != 0;
}

[[gnu::always_inline]] inline bool hasRoom(const abi::RingHeader &ring, unsigned slots) noexcept {
  return peek(ring.reserved) + slots + kSlackSlots <= peek(ring.room_until);
}

// Step 3 and 4. words[1] is the event's time and is filled in here.
[[gnu::always_inline]] inline void writeSlots(abi::RingHeader &ring, uint64_t *words, unsigned slots) noexcept {
  const uint64_t at = fetchAddLocal(ring.reserved, slots);
  addLocal(ring.produced, 1);
  auto *ring_words = reinterpret_cast<uint64_t *>(reinterpret_cast<char *>(&ring) + abi::kPageBytes);
  constexpr unsigned kWords = abi::kSlotBytes / sizeof(uint64_t);
  for (unsigned slot = 0; slot < slots; ++slot) {
    uint64_t *to = ring_words + ((at + slot) & (ring.capacity - 1)) * kWords;
    for (unsigned i = 0; i < kWords; ++i)
      put(to[i], words[slot * kWords + i]);
  }
}

// Step 5.
[[gnu::always_inline]] inline void leave(Thread &thread, abi::RingHeader *ring, uint32_t depth) noexcept {
  if (depth != 0) {
    setDepth(thread, depth);
    return;
  }
  for (;;) {
    const uint64_t reserved = peek(ring->reserved);
    ring->head.store(reserved, std::memory_order_release);
    setDepth(thread, 0);
    if (peek(ring->reserved) == reserved) [[likely]]
      return;
    setDepth(thread, 1);
    ring = thread.ring;
  }
}

// Records one event of type Event; the header's time is the moment of the call.
template <class Event> [[gnu::always_inline]] inline void record(Thread &thread, const Event &event) noexcept {
  if (!isEnabled(Event::kKind))
    return;
  uint64_t words[sizeof event / sizeof(uint64_t)];
  std::memcpy(words, &event, sizeof event);
  const uint32_t depth = thread.depth;
  setDepth(thread, depth + 1);
  if (thread.generation == __atomic_load_n(&__msl_process.generation, __ATOMIC_RELAXED)) [[likely]] {
    abi::RingHeader *ring = thread.ring;
    if (depth < kMaxNesting && hasRoom(*ring, Event::kSlots)) [[likely]] {
      words[1] = readClock(__msl_process.clock);
      writeSlots(*ring, words, Event::kSlots);
      leave(thread, ring, depth);
      return;
    }
  }
  setDepth(thread, depth);
  __msl_record_slow(words, Event::kSlots);
}

[[gnu::always_inline]] inline void recordAlloc(abi::Heap heap, uint8_t flags, uint32_t site, uint64_t address,
                                               uint64_t size_bytes) noexcept {
  Thread &thread = __msl_thread;
  thread.last[thread.recorded++ % kRememberedAllocs] = {address, site};
  record(thread, abi::AllocEvent{{abi::EventKind::Alloc, heap, 0, flags, site, 0}, address, size_bytes});
}

[[gnu::always_inline]] inline void recordFree(abi::Heap heap, uint8_t flags, uint32_t site, uint64_t address,
                                              uint64_t size_bytes) noexcept {
  record(__msl_thread, abi::FreeEvent{{abi::EventKind::Free, heap, 0, flags, site, 0}, address, size_bytes});
}

[[gnu::always_inline]] inline void recordAllocFailed(abi::Heap heap, uint8_t flags, uint32_t site, uint64_t size_bytes,
                                                     uint64_t status) noexcept {
  record(__msl_thread, abi::AllocFailedEvent{{abi::EventKind::AllocFailed, heap, 0, flags, site, 0}, size_bytes, status});
}

} // namespace msleaks::runtime
