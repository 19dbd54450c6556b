// Stores the watched blocks of a process, and the current operations of its threads.
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
  const Thread *thread; // null = this entry is free
  Operation operation;
};

// The list of watches. It is made for the first watch, or at the first allocation if --watch chooses blocks. It is
// never unmapped. A fork's child has no list, since the kernel sets Process to zeros.
struct WatchList {
  uint32_t lock;
  bool is_given_up; // a thread has waited for the lock in vain, so later waits are short
  ChosenSites sites;
  // The next three fields are written with the lock held, and may be read without it.
  uint32_t count;
  bool is_closed;       // no block is compared now: WatchWish::begin has not ended yet, or WatchWish::end has ended
  const Thread *holder; // the thread that has the lock
  WatchedBlock blocks[kMostBlocks];
  uint64_t addresses[kMostBlocks]; // addresses of `blocks`; written with the lock held, and may be read without it
  Pending pending[kMostThreads];
  char scratch[kScratchBytes];
  ContentScratch files;
  bool is_refusal_noted, is_wait_noted;
};

// Holds the lock of the list. A thread that compares blocks holds the lock while it waits for the driver. The driver
// may wait for a callback of the program in another thread, and this callback may need the lock. So a thread waits for
// the lock only for a bounded time. If it does not get the lock, the object is false as a bool, no block is compared,
// and a note reports this.
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

// Whether this thread is comparing blocks now (a look). Calls that the driver makes during a look are not calls of the
// program.
inline bool looksNow(const WatchList &list, const Thread &thread) noexcept {
  return __atomic_load_n(&list.holder, __ATOMIC_RELAXED) == &thread;
}

Pending *pendingOf(WatchList &, const Thread *) noexcept;
WatchedBlock *blockAt(WatchList &, uint64_t address) noexcept;
// Whether the block at this address is watched. The caller does not need the lock.
bool isWatched(const WatchList &, uint64_t address) noexcept;

// Returns the list if this thread must compare blocks now. Returns null if the list is open and no block is watched, or
// if the thread is comparing blocks already. Also returns null if the runtime cannot record changes now.
WatchList *listToLookAt(const Thread &) noexcept;
// Returns the list, and makes it if necessary. Returns null if there is no arena or no memory.
WatchList *makeList() noexcept;

// Begins a watch, and ends an earlier watch at this address. Call with the lock held.
void watch(WatchList &, uint64_t address, uint64_t bytes, uint64_t name, const TensorForm & = {}) noexcept;
// Begins a watch for a block that has just been allocated.
void watchFromBirth(WatchList &, uint64_t address, uint64_t bytes, uint64_t name) noexcept;
void endWatch(WatchList &, Thread &, WatchedBlock &) noexcept;
void noteUnwatched() noexcept;
// Writes a note, once, that watching makes the program wait. With --watch there is no note, since the user expects the
// wait.
void noteWaits(WatchList &) noexcept;

} // namespace msleaks::runtime
