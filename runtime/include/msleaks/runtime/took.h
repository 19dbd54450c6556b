// Records how long a real function took, if the session has kernel evidence (docs/kernel.md).
#pragma once

#include "msleaks/runtime/record.h"
#include "msleaks/runtime/sandbox.h"

namespace msleaks::runtime {

inline constexpr uint64_t kLeastTookNs = 10'000; // shorter calls are nothing to explain

// Returns the time, or 0 if the call is not timed. A call inside another hooked call is not timed, because its time is
// part of the other one's. In a sandbox, the clock might be a forbidden system call.
[[gnu::noinline, gnu::cold]] inline uint64_t beginTook(const Thread &thread) noexcept {
  return isEnabled(abi::EventKind::Took) && thread.call.inside == 0 && !isSandboxed() ? monotonicNs() : 0;
}

inline void recordTook(Thread &thread, uint64_t took_ns, uint64_t flags) noexcept {
  const uint64_t tid = thread.ring != nullptr ? thread.ring->tid : 0;
  record(thread,
         abi::TookEvent{{abi::EventKind::Took, abi::Heap::Host, 0, abi::kFromHook, 0, 0}, took_ns, tid | flags});
}

// Tells which thread has recorded the steps of its stream.
inline void recordThreadOfStep(Thread &thread) noexcept {
  if (isEnabled(abi::EventKind::Took)) [[unlikely]]
    recordTook(thread, 0, 0);
}

// `flags`: bits of TookEvent::thread.
[[gnu::noinline, gnu::cold]] inline void endTook(Thread &thread, uint64_t began_ns, uint64_t flags = 0) noexcept {
  const uint64_t took_ns = began_ns != 0 ? monotonicNs() - began_ns : 0;
  if (took_ns >= kLeastTookNs)
    recordTook(thread, took_ns, flags);
}

} // namespace msleaks::runtime
