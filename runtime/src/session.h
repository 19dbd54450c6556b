// The session that this process belongs to, found once: $MSLEAKS_SESSION and its control page.
#pragma once

#include "text.h"

#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

using PathText = Text<4096>;

struct Session {
  const abi::ControlPage *control; // null: undecided, or none
  uint64_t page_bytes;             // of the kernel, unless a test has said another
  abi::UnseenPage *unseen;         // null: cannot be had
  PathText directory;
  PathText scratch; // a path that is wanted at once: the first event may come on a small stack
};

// The same before and after a fork.
extern Session session;

// Finds the session; false = there is none, or none that we understand, and the process stays inert for good. Called
// with signals blocked and __msl_process.lock held.
bool findSession() noexcept;

// Whether the program before an exec has installed a seccomp filter, which the collector of this session does not have.
// Then this process is listed, and inert. Needs no lock.
bool beginsSandboxed() noexcept;

// Nobody stores what is recorded: the collector's thread has ended, the session is closed, or this process gave up
// waiting and there was no heartbeat since. A collector that takes over makes it false again.
bool collectorGone() noexcept;
// Whether so many bytes of shared memory may be taken: without a collector only as long as there is little of it.
bool mayTake(uint64_t bytes) noexcept;
// The session is known, it has no collector, and nothing more may be taken.
bool waitsForCollector() noexcept;
// Whoever waited until `heartbeat_ns` was too old stops waiting until there is another one.
void giveUp(uint64_t heartbeat_ns) noexcept;

// This process cannot make its files: counts it, with the reason.
void countUnseen(int error) noexcept;
// The same of the child of a process with this pid, behind a filter.
void countUnseenChild(uint32_t ancestor_pid) noexcept;

// From now on nothing is enabled.
void becomeInert() noexcept;
bool isInert() noexcept;

} // namespace msleaks::runtime
