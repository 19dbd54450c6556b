// The session that this process belongs to, found once: $MSLEAKS_SESSION and its control page.
#pragma once

#include "text.h"

#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

using PathText = Text<4096>;

struct Session {
  const abi::ControlPage *control; // null: undecided, or none
  uint64_t page_bytes;             // of the kernel, unless a test has said another
  abi::UnseenPage *unseen;         // null: it cannot be mapped
  PathText directory;
  PathText scratch; // a path that is wanted at once: the first event may come on a small stack
};

// The same value before and after a fork.
extern Session session;

// Finds the session. False = there is no session of a version that we know, and the process stays inert for good. Call
// with signals blocked and __msl_process.lock held.
bool findSession() noexcept;

// Whether the program before an exec has installed a seccomp filter that the session's collector does not have. Then
// this process is listed as unseen, and inert. Needs no lock.
bool beginsSandboxed() noexcept;

// Whether no collector stores events: its thread has ended, the session is closed, or this process gave up waiting and
// saw no heartbeat since. A new collector makes it false again.
bool collectorGone() noexcept;
// Whether this many bytes of shared memory may be taken. Without a collector there is a small limit.
bool mayTake(uint64_t bytes) noexcept;
// Whether the session has no collector and its limit of shared memory is reached.
bool waitsForCollector() noexcept;
// Notes that this process waited until `heartbeat_ns` was too old. It does not wait again before a newer heartbeat.
void giveUp(uint64_t heartbeat_ns) noexcept;

// Counts this process as one that cannot make its files, with the reason.
void countUnseen(int error) noexcept;
// The same for a child, behind a filter, of the process with this pid.
void countUnseenChild(uint32_t ancestor_pid) noexcept;

// Disables all events from now on.
void becomeInert() noexcept;
bool isInert() noexcept;

} // namespace msleaks::runtime
