// What a thread and a process keep for recording: the only state that the hot path touches besides the ring itself.
//
// Both are exported, so that a hook records without a call into the runtime. Their layout is private to one build of
// runtime and hooks.
#pragma once

#include "msleaks/abi/session.h"

#include <cstdint>

namespace msleaks::runtime {

struct Arena;

// What a callback of the pass left for the hook that is about to run (pending.h).
struct PendingSite {
  uint32_t site; // 0 = nothing; written last when set, first when cleared
  uint32_t traits;
  uint64_t address; // of a free or realloc, which is in the ring already: the block
};

// An instrumented allocator call under way, and how many Allocs this thread had recorded when it began.
struct OpenCall {
  uint32_t site;
  uint32_t recorded;
};

struct RecordedAlloc {
  uint64_t address;
  uint32_t site;
};

inline constexpr uint32_t kRememberedAllocs = 8; // powers of two
inline constexpr uint32_t kOpenCalls = 8;

inline constexpr uint32_t kNoGeneration = 1; // no process has it: such a thread takes the slow path first

struct Thread {
  abi::RingHeader *ring; // valid while `generation` is the process' own
  uint32_t generation = kNoGeneration;
  uint32_t depth;          // records under way in this thread: above 0 in a signal handler that interrupted one
  uint32_t no_ring_left;   // events to count as lost before a ring is asked for again
  uint32_t no_growth_left; // full rings to put up with before a larger one is asked for again
  bool inside;             // in the real function behind a hook, or in the runtime itself: what happens there is ours
  bool ended;              // its ring has been given back; what still comes goes to the shared late ring
  uint32_t recorded;       // Allocs so far; remembers the last of them in `last`
  uint32_t open_count;     // of `open`
  PendingSite pending;
  RecordedAlloc last[kRememberedAllocs];
  OpenCall open[kOpenCalls];
};

// Page-aligned and marked MADV_WIPEONFORK: the child of a fork, _Fork or clone finds zeros and starts afresh, and a
// vfork, which borrows the parent's memory, rightly goes on in the parent's rings. No handler has to run for it.
struct alignas(abi::kPageBytes) Process {
  uint32_t generation; // 0 = no arena yet
  abi::ClockKind clock;
  abi::Caller *callers; // null until its pages exist
  Arena *arena;
  uint32_t lock;
};

} // namespace msleaks::runtime

extern "C" {
// Initial-exec: the address is a constant from the thread pointer, no call to __tls_get_addr (which may allocate).
[[gnu::visibility("default"), gnu::tls_model("initial-exec")]] extern __thread msleaks::runtime::Thread __msl_thread;
[[gnu::visibility("default")]] extern msleaks::runtime::Process __msl_process;

// Bit per EventKind. Points at all ones until the process knows whether it has a session, then into the control page,
// or at zero.
[[gnu::visibility("default")]] extern const std::atomic<uint32_t> *__msl_enabled;
}
