// Finds the session of this process: the directory $MSLEAKS_SESSION and its control page.
#pragma once

#include "text.h"

#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

using PathText = Text<4096>;

struct Session {
  const abi::ControlPage *control; // null: the process has not searched yet, or there is no session
  uint64_t page_bytes;             // page size of the kernel; a test may set another size
  abi::UnseenPage *unseen;         // null: the page cannot be mapped
  PathText directory;
  PathText scratch; // buffer for a temporary path; it is not on the stack, which may be small
};

// A fork's child inherits the content of this object.
extern Session session;

// Finds the session. If there is no session of this runtime's version, returns false, and the process never records.
// Call with signals blocked and __msl_process.lock held.
bool findSession() noexcept;

// Whether this process, at its exec, had a seccomp filter that the session's collector does not have. If so, this
// process is listed as unseen and records nothing. The caller needs no lock.
bool beginsSandboxed() noexcept;

// Whether no collector stores events now: its thread has ended, the session is closed, or this process has given up on
// it (giveUp). When a new collector starts, the result is false again.
bool collectorGone() noexcept;
// Whether the process may allocate this many bytes of shared memory. Without a collector, the bytes are added to the
// sum of all processes, which is limited (kMaxOrphanKib).
bool mayTake(uint64_t bytes) noexcept;
// Whether the session has no collector and its limit of shared memory is reached.
bool waitsForCollector() noexcept;
// Stores that this process has waited in vain, and that the last heartbeat was `heartbeat_ns`. The process does not
// wait again until it sees a newer heartbeat.
void giveUp(uint64_t heartbeat_ns) noexcept;

// Counts this process as unseen, since it cannot create its files. `error` is the reason.
void countUnseen(int error) noexcept;
// Counts this process as unseen. Its ancestor with this pid has installed a seccomp filter, so the process cannot
// create files.
void countUnseenChild(uint32_t ancestor_pid) noexcept;

// From now on, the process records nothing.
void becomeInert() noexcept;
bool isInert() noexcept;

} // namespace msleaks::runtime
