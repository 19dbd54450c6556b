// The watched blocks of a process, and what its threads are in the middle of.
#pragma once

#include "content_file.h"
#include "system.h"
#include "watch.h"
#include "watch_choice.h"
#include "watched_block.h"

namespace msleaks::runtime {

inline constexpr uint32_t kMostBlocks = 64, kMostThreads = 256;
inline constexpr uint64_t kScratchBytes = 256 << 10;

// The operation that a thread is in the middle of.
struct Pending {
  const Thread *thread; // null = nobody's
  Operation operation;
};

// Made with the first watch, and never unmapped. A fork's child has none: Process is wiped.
struct WatchList {
  uint32_t lock;
  bool is_given_up; // a thread has waited for the lock in vain
  ChosenSites sites;
  // Written with the list held, read without it too:
  uint32_t count;
  bool is_closed;       // the operation after which is looked has not ended yet (abi::WatchWish)
  const Thread *holder; // of the lock
  WatchedBlock blocks[kMostBlocks];
  uint64_t addresses[kMostBlocks]; // of these; written with the list held, read without it, too
  Pending pending[kMostThreads];
  char scratch[kScratchBytes];
  ContentScratch files;
  bool is_refusal_noted, is_wait_noted;
};

// The list, for one thread at a time. A look holds it while it waits for the driver. The driver may wait for a callback
// of the program, in a thread of its own, that wants the list as well: so nobody waits for it forever. False as a bool:
// another thread still has it, and nothing can be looked at here, which a note says.
class ListHeld {
public:
  explicit ListHeld(WatchList &list) noexcept;
  ~ListHeld();
  ListHeld(const ListHeld &) = delete;
  ListHeld &operator=(const ListHeld &) = delete;
  explicit operator bool() const noexcept { return static_cast<bool>(locked_); }

private:
  void hold(const Thread *thread) noexcept { __atomic_store_n(&list_.holder, thread, __ATOMIC_RELAXED); }
  const ErrnoKept errno_kept_;
  const SignalsBlocked blocked_;
  WatchList &list_;
  const Locked locked_;
};

inline uint32_t countOf(const WatchList &list) noexcept { return __atomic_load_n(&list.count, __ATOMIC_RELAXED); }

inline void setCount(WatchList &list, uint32_t count) noexcept {
  __atomic_store_n(&list.count, count, __ATOMIC_RELAXED);
}

inline bool isClosed(const WatchList &list) noexcept { return __atomic_load_n(&list.is_closed, __ATOMIC_RELAXED); }

inline void setClosed(WatchList &list, bool is_closed) noexcept {
  __atomic_store_n(&list.is_closed, is_closed, __ATOMIC_RELAXED);
}

// What a driver does for a look is none of the program's doing.
inline bool looksNow(const WatchList &list, const Thread &thread) noexcept {
  return __atomic_load_n(&list.holder, __ATOMIC_RELAXED) == &thread;
}

Pending *pendingOf(WatchList &, const Thread *) noexcept;
WatchedBlock *blockAt(WatchList &, uint64_t address) noexcept;
// Without the list held.
bool isWatched(const WatchList &, uint64_t address) noexcept;

// The list, if there is something to look at or to wait for, and this thread is not in the middle of a look.
WatchList *listToLookAt(const Thread &) noexcept;
// Null: there is no memory for it.
WatchList *makeList() noexcept;

// With the list held. What was watched at this address is no longer.
void watch(WatchList &, uint64_t address, uint64_t bytes, uint64_t name, const TensorForm & = {}) noexcept;
// The same for a block that has just been allocated.
void watchFromBirth(WatchList &, uint64_t address, uint64_t bytes, uint64_t name) noexcept;
void endWatch(WatchList &, Thread &, WatchedBlock &) noexcept;
void noteUnwatched() noexcept;
// Once, where the user has not asked for a watch, and so not been told: the program has.
void noteWaits(WatchList &) noexcept;

} // namespace msleaks::runtime
