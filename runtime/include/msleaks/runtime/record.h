// Records events. The hot path (recordEnabled) writes one event into the thread's ring.
//
// The hot path takes no lock, makes no system call and allocates nothing. Signal handlers may interrupt it at any
// instruction. In the following, D is the number of unfinished records of this thread. R is the ring's field
// `reserved`: the slots below position R are taken.
//
//   1. D == 0, and the thread has a ring?        otherwise the slow path, which does the same at any D
//   2. D = 1
//   3. R + slots within `room_until`?            otherwise the slow path
//   4. at = R, R += slots                        one instruction: only this thread and its handlers write R
//   5. write the slots
//   6. head = at + slots, D = 0                  while R > head: D = 1, head = R, D = 0
//
// If D > 0, a record in a handler publishes nothing, and restores D at its end.
// A handler that interrupts a record:
//   between 1 and 2   finds D = 0, so it publishes its own event. The interrupted record has not yet read any value
//                     that the handler changes.
//   between 2 and 4   reserves its slots first, so R may have grown since step 3. Then the interrupted record may write
//                     one event beyond the room that it checked (the outermost record: kMostTogether slots). Therefore
//                     room_until is kSlackSlots below the real limit. Records deeper than kMaxNesting are refused.
//   between 4 and 6   reserves slots after those of the interrupted record, and has written them when that record
//                     continues. R is then beyond at + slots.
//   within 6, D = 1   publishes nothing. R is then beyond head, so the interrupted record repeats step 6.
//   within 6, D = 0   publishes all its events itself. Repeating step 6 then changes nothing.
//
// `head` never decreases: only a record with D = 1 stores it, and no handler stores it at the same time. All slots
// below `head` are written. A thread replaces its ring by a larger one only at D = 1. After D = 0 another thread may
// own the ring. So the pointer to the ring is loaded after step 2, and is not used after D = 0.
//
// Order of memory accesses (AArch64 reorders accesses that x86-64 keeps in order). A thread and its own signal handlers
// need no barrier: on any processor, a handler sees the thread's writes in program order. Only the compiler must keep
// this order (setState, and the asm below). If a thread is killed, all its executed writes become visible. Between the
// producer and the collector:
//
//   producer                                        collector
//   slots, then head (release)                      head (acquire), then slots: everything below head is whole
//   tail (acquire), then slots again                slots, then tail (release): no slot changes while it is copied
//   header, slots' pages, then Live (release)       state (acquire), then header
//   last head, then Ended (release)                 state (acquire), then head: the last one. The collector also sees
//                                                   that an Ended ring's successor is Live
//   Drained (acquire), then the header anew         slots, then Drained (release)
//   reserved, a barrier for stores, slots           slots, an acquire fence, reserved: with `overwrite`, a slot that
//                                                   changed during the copy is below the positions that the reader
//                                                   accepts
//
// The cached room_until is never beyond the room that the newest tail leaves. After a reader has seen Ended, `produced`
// and `dropped` do not change any more. Before that, they are approximate.
#pragma once

#include "msleaks/abi/chosen_devices.h"
#include "msleaks/runtime/clock.h"
#include "msleaks/runtime/thread.h"

#include <cstring>

extern "C" {
// Records an event if the hot path cannot. For example, the thread has no ring, its ring is full, or the record
// interrupts another one.
[[gnu::visibility("default"), gnu::cold]] void __msl_record_slow(const void *event, unsigned slots) noexcept;
// Whether the session records an event with this first word.
[[gnu::visibility("default")]] bool __msl_is_selected(uint64_t first_word) noexcept;
// Repeats step 6 after a signal handler has recorded during it.
[[gnu::visibility("default"), gnu::cold]] void __msl_publish_again() noexcept;
// Call this before the Free of a block is recorded. If the collector reads which pages of the block were touched, this
// function reads them for the last time. For any other block it does nothing.
[[gnu::visibility("default"), gnu::cold]] void __msl_look_before_free(uint64_t address, uint32_t heap) noexcept;
}

namespace msleaks::runtime {

inline constexpr uint32_t kMaxNesting = 16;
inline constexpr uint32_t kMostTogether = 4;
inline constexpr uint64_t kSlackSlots = uint64_t{kMaxNesting} * abi::kMaxEventSlots + kMostTogether;
inline constexpr uint64_t kUnlimited = UINT64_MAX; // room_until of a flight recorder

// peek and put access words that only the producer writes, while its signal handlers and the collector may read them.
[[gnu::always_inline]] inline uint64_t peek(const uint64_t &word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}
[[gnu::always_inline]] inline void put(uint64_t &word, uint64_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}
[[gnu::always_inline]] inline void setState(Thread &thread, uint64_t state) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  put(thread.state, state);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Adds to a word, and returns the old value. The addition is atomic for signal handlers of this thread, but not for
// other processors. On x86-64, and on AArch64 with LSE (ARMv8.1), it is one instruction. Other AArch64 processors use a
// pair of instructions (LL/SC), which is repeated after an interrupt.
[[gnu::always_inline]] inline uint64_t fetchAddLocal(uint64_t &word, uint64_t count) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("xaddq %0, %1" : "+r"(count), "+m"(word) : : "memory", "cc");
  return count;
#else
  return __atomic_fetch_add(&word, count, __ATOMIC_RELAXED);
#endif
}

[[gnu::always_inline]] inline void addLocal(uint64_t &word, uint64_t count) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("addq %1, %0" : "+m"(word) : "er"(count) : "cc");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst); // keeps the order of the program, as the asm for x86-64 does
  __atomic_fetch_add(&word, count, __ATOMIC_RELAXED);
#endif
}

// Orders stores: another processor sees the stores before the barrier first. A release fence would also wait for loads.
[[gnu::always_inline]] inline void storeBarrier() noexcept {
#if defined(__x86_64__)
  std::atomic_signal_fence(std::memory_order_seq_cst); // the processor keeps the order of stores
#elif defined(__aarch64__)
  __asm__ volatile("dmb ishst" : : : "memory");
#else
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

[[gnu::always_inline]] inline uint32_t enabledWord() noexcept {
  return __atomic_load_n(&__msl_enabled, __ATOMIC_RELAXED)->load(std::memory_order_relaxed);
}

[[gnu::always_inline]] inline bool isEnabled(abi::EventKind kind) noexcept {
  return (enabledWord() & abi::enabledBit(kind)) != 0;
}

// Whether the process records nothing now, because there is no session or the session was stopped.
[[gnu::always_inline]] inline bool isStopped() noexcept { return enabledWord() == 0; }

[[gnu::always_inline]] inline bool hasRoom(const abi::RingHeader &ring, unsigned slots) noexcept {
  return peek(ring.reserved) + (slots - 1) < peek(ring.room_until);
}

[[gnu::always_inline]] inline uint64_t *slotAt(abi::RingHeader &ring, uint64_t position) noexcept {
  auto *slots = reinterpret_cast<char *>(&ring) + abi::kHeaderBytes;
  return reinterpret_cast<uint64_t *>(slots + (position & (ring.capacity - 1)) * abi::kSlotBytes);
}

// Does steps 4 and 5, and returns the position after the event. words[1] is the event's time. The event is counted
// after its slots are reserved. So if the thread is killed here, at most `reserved` is ahead of `head`.
template <unsigned kSlots>
[[gnu::always_inline]] inline uint64_t writeSlots(abi::RingHeader &ring, const uint64_t *words) noexcept {
  const uint64_t at = fetchAddLocal(ring.reserved, kSlots);
  storeBarrier();
  addLocal(ring.produced, 1);
#pragma GCC unroll 2
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    uint64_t *to = slotAt(ring, at + slot);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; ++i)
      put(to[i], words[slot * 4 + i]);
  }
  return at + kSlots;
}

// Stores the event as 64-bit words. An event of one slot is not copied with memcpy. A memcpy would store parts of a
// word and then load the whole word, and this load would wait for the stores.
template <class Event> [[gnu::always_inline]] inline void fillWords(const Event &event, uint64_t *words) noexcept {
  if constexpr (Event::kSlots == 1) {
    unsigned at = 2;
    abi::visitFields(event, [&](const char *, abi::Repr, const uint64_t &field) { words[at++] = field; });
  } else {
    __builtin_memcpy(words, &event, sizeof event);
  }
  const abi::EventHeader &header = event.header;
  words[0] = abi::firstWord(header.kind, header.heap, header.device, header.flags, header.site);
}

template <class Event>
[[gnu::always_inline]] inline uint64_t writeTimed(abi::RingHeader &ring, const Event &event, uint64_t ticks) noexcept {
  uint64_t words[sizeof event / sizeof(uint64_t)];
  fillWords(event, words);
  words[1] = ticks;
  return writeSlots<Event::kSlots>(ring, words);
}

// Calls the slow path. These functions are not inlined, and get the event's words or a copy of the event. So the hot
// path can keep the event in registers.
[[gnu::noinline, gnu::cold]] inline void recordSlotSlow(uint64_t word0, uint64_t word2, uint64_t word3) noexcept {
  const uint64_t words[] = {word0, 0, word2, word3};
  __msl_record_slow(words, 1);
}
template <class Event> [[gnu::noinline, gnu::cold]] void recordCopySlow(Event event) noexcept {
  __msl_record_slow(&event, Event::kSlots);
}

template <class Event> [[gnu::always_inline]] inline void recordSlow(const Event &event) noexcept {
  if constexpr (Event::kSlots == 1) {
    uint64_t words[abi::kSlotBytes / sizeof(uint64_t)];
    fillWords(event, words);
    recordSlotSlow(words[0], words[2], words[3]);
  } else {
    recordCopySlow(event);
  }
}

// Before the Free of a large or sampled block: reads for the last time how much of the block was touched, or is needed.
template <class Event> [[gnu::always_inline]] inline void lookBefore(const Event &) noexcept {}
[[gnu::always_inline]] inline void lookBefore(const abi::FreeEvent &event) noexcept {
  if (event.header.heap != abi::Heap::Host && event.header.heap != abi::Heap::Mapping)
    return;
  const abi::LargeBlocks *told = __atomic_load_n(&__msl_process.large_blocks, __ATOMIC_RELAXED);
  const uint32_t bit = abi::largeBitOf(event.address);
  if (told != nullptr && (told->filter[bit / 64].load(std::memory_order_relaxed) >> bit % 64 & 1) != 0) [[unlikely]]
    __msl_look_before_free(event.address, static_cast<uint32_t>(event.header.heap));
}

// Records events of enabled kinds. Events that belong together get one time and are published together. If another
// thread has just passed a block to this thread, the block's Free or Retain may be a few ns earlier than its Alloc. A
// fence would prevent this, but would double the cost. So LiveSet in the analysis puts these events in order.
template <class... Events>
[[gnu::always_inline]] inline void recordEnabled(Thread &thread, const Events &...events) noexcept {
  constexpr unsigned kSlots = (Events::kSlots + ...);
  static_assert(sizeof...(Events) == 1 || kSlots <= kMostTogether);
  (lookBefore(events), ...);
  const uint64_t outside = __atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED);
  if (peek(thread.state) != outside) [[unlikely]]
    return (recordSlow(events), ...);
  setState(thread, outside + kOneRecord);
  abi::RingHeader &ring = *thread.ring;
  if (!hasRoom(ring, kSlots)) [[unlikely]] {
    setState(thread, outside);
    return (recordSlow(events), ...);
  }
  const uint64_t ticks = readTicks();
  uint64_t end = 0;
  ((end = writeTimed(ring, events, ticks)), ...);
  ring.head.store(end, std::memory_order_release);
  setState(thread, outside);
  if (peek(ring.reserved) != end) [[unlikely]]
    __msl_publish_again();
}

// Whether the session records this event. Only the blocks of drivers may be those of a device that is not chosen.
template <class Event> [[gnu::always_inline]] inline bool isSelected(const Event &event) noexcept {
  const abi::EventHeader &header = event.header;
  if constexpr (abi::isOfBlock(Event::kKind))
    if (!abi::isOfHostOnly(header.heap) && __msl_process.chooses_devices) [[unlikely]]
      return __msl_is_selected(abi::firstWord(header.kind, header.heap, header.device, 0, 0));
  return isEnabled(Event::kKind);
}

template <class Event> [[gnu::always_inline]] inline void record(Thread &thread, const Event &event) noexcept {
  if (isSelected(event))
    recordEnabled(thread, event);
}

template <class... Events>
[[gnu::always_inline]] inline void recordTogether(Thread &thread, const Events &...events) noexcept {
  if ((isSelected(events) && ...)) [[likely]]
    recordEnabled(thread, events...);
  else
    (record(thread, events), ...);
}

// Stores the block if an instrumented allocator call of this thread has not returned yet. The callback after this call
// searches the stored blocks for its own block.
[[gnu::always_inline]] inline void rememberAlloc(Thread &thread, abi::Heap heap, uint64_t address,
                                                 uint32_t site) noexcept {
  if (thread.call.open_calls != 0)
    thread.last[thread.remembered++ % kRememberedAllocs] = {address, site, heap};
}

// `path` is the number of the path to the site. 0 means that the event has only the site.
[[gnu::always_inline]] inline void recordAlloc(abi::Heap heap, uint16_t flags, uint32_t site, uint64_t address,
                                               uint64_t size_bytes, uint32_t path = 0, uint32_t device = 0) noexcept {
  rememberAlloc(__msl_thread, heap, address, site);
  record(
      __msl_thread,
      abi::AllocEvent{{abi::EventKind::Alloc, heap, device, flags, path != 0 ? path : site, 0}, address, size_bytes});
}

[[gnu::always_inline]] inline void recordFree(abi::Heap heap, uint16_t flags, uint32_t site, uint64_t address,
                                              uint64_t size_bytes) noexcept {
  record(__msl_thread, abi::FreeEvent{{abi::EventKind::Free, heap, 0, flags, site, 0}, address, size_bytes});
}

[[gnu::always_inline]] inline void recordAllocFailed(abi::Heap heap, uint16_t flags, uint32_t site, uint64_t size_bytes,
                                                     uint64_t status, uint32_t device = 0) noexcept {
  record(__msl_thread,
         abi::AllocFailedEvent{{abi::EventKind::AllocFailed, heap, device, flags, site, 0}, size_bytes, status});
}

} // namespace msleaks::runtime
