// The watched blocks of a process, and the current operations of its threads.
#pragma once

#include "content_file.h"
#include "system.h"
#include "watch.h"
#include "watch_choice.h"
#include "watched_block.h"

namespace msleaks::runtime {

inline constexpr uint32_t kMostBlocks = 64, kMostThreads = 256;
inline constexpr uint64_t kScratchBytes = 256 << 10;

// The current operation of a thread.
struct Pending {
  const Thread *thread; // null = free
  Operation operation;
};

// It is made with the first watch and never unmapped. A fork's child has none, since Process is wiped.
struct WatchList {
  uint32_t lock;
  bool is_given_up; // a thread has waited for the lock in vain
  ChosenSites sites;
  // These are written with the list held, and read also without it:
  uint32_t count;
  bool is_closed;       // waits for the end of WatchWish::begin
  const Thread *holder; // of the lock
  WatchedBlock blocks[kMostBlocks];
  uint64_t addresses[kMostBlocks]; // number of these; written with the list held, read also without it
  Pending pending[kMostThreads];
  char scratch[kScratchBytes];
  ContentScratch files;
  bool is_refusal_noted, is_wait_noted;
};

// Holds the list, for one thread at a time. A look holds the list while it waits for the driver. The driver may wait
// for a callback of the program, in a thread of its own, which wants the list too. So no thread waits for the list
// forever. False as a bool: another thread still has it. Then no block can be compared here, and a note says so.
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

// A driver's work for a look is not the program's.
inline bool looksNow(const WatchList &list, const Thread &thread) noexcept {
  return __atomic_load_n(&list.holder, __ATOMIC_RELAXED) == &thread;
}

Pending *pendingOf(WatchList &, const Thread *) noexcept;
WatchedBlock *blockAt(WatchList &, uint64_t address) noexcept;
// Call without the list held.
bool isWatched(const WatchList &, uint64_t address) noexcept;

// Returns the list, if there is a block to compare or an operation to wait for, and this thread is not in a look.
WatchList *listToLookAt(const Thread &) noexcept;
// Returns null if there is no memory for it.
WatchList *makeList() noexcept;

// Call with the list held. A block that was watched at this address no longer is.
void watch(WatchList &, uint64_t address, uint64_t bytes, uint64_t name, const TensorForm & = {}) noexcept;
// The same for a block that has just been allocated.
void watchFromBirth(WatchList &, uint64_t address, uint64_t bytes, uint64_t name) noexcept;
void endWatch(WatchList &, Thread &, WatchedBlock &) noexcept;
void noteUnwatched() noexcept;
// Writes a note once, if only the program asked for a watch: the user was not told of it.
void noteWaits(WatchList &) noexcept;

} // namespace msleaks::runtime
