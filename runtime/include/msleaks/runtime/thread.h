// What a thread and a process keep for recording: the only state that the hot path touches besides the ring itself.
//
// Both are exported, so that a hook records without a call into the runtime. Their layout is private to one build of
// runtime and hooks.
#pragma once

#include "msleaks/abi/events.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/symbols.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

struct Arena;
struct Counting;
class PathTree;
struct ThreadPath;
struct WatchList;

// What a callback of the pass left for the hook that is about to run (pending.h).
struct PendingSite {
  uint32_t site; // 0 = nothing
  uint32_t traits;
  uint64_t address; // of a free or realloc, which is in the ring already: the block
};

// An instrumented allocator call under way, and how many Allocs this thread had remembered when it began.
struct OpenCall {
  uint64_t frame; // of its first callback
  uint64_t old;   // the block that a realloc took and brings back when it fails; 0 = none, or a hook's business
  uint32_t site;
  uint32_t remembered;
  uint32_t traits;
  uint32_t owner; // the label that a hook has given the block (__msl_hook_owner), and kUsedUnseen; 0 = none
};
inline constexpr uint32_t kUsedUnseen = uint32_t{1} << 31;

struct RecordedAlloc {
  uint64_t address;
  uint32_t site;
  abi::Heap heap;
};

// A range of the program that this thread is in, and where it began: known where something is watched (watch.h).
struct OpenRange {
  uint32_t label, site;
};

inline constexpr uint32_t kRememberedAllocs = 8; // powers of two
inline constexpr uint32_t kOpenCalls = 8;
inline constexpr uint32_t kOpenRanges = 4;

// What a hook has to look at beyond the plain case. All zero in the plain case, which is one load and one compare.
// `inside`: see class Inside; `open_calls`: of Thread::open, whose Allocs are remembered.
using abi::CallState;

// What a real function calls of its own family is its own business, and so is what the heap maps: its supply. A host
// block that a driver frees is an event like any other.
constexpr uint16_t familyBit(abi::Family family) { return static_cast<uint16_t>(1u << static_cast<unsigned>(family)); }
constexpr uint16_t insideOf(abi::Family family) {
  return family == abi::Family::Heap ? familyBit(family) | familyBit(abi::Family::Mmap) : familyBit(family);
}
inline constexpr uint16_t kInsideRuntime = 0xffff;
static_assert(static_cast<unsigned>(abi::Family::Count) < 16, "a bit per family, and one that only the runtime has");

// Generation in the low half, records under way in the high half (above 0 only in a signal handler that interrupted
// one): that a thread has its ring and interrupts nothing is one compare with Process::state.
inline constexpr uint64_t kNoGeneration = 1; // no process has it: such a thread takes the slow path first
inline constexpr uint64_t kOneRecord = uint64_t{1} << 32;

struct Thread {
  uint64_t state = kNoGeneration;
  abi::RingHeader *ring; // valid while the generation is the process' own
  CallState call;
  uint32_t pending_traits; // PendingSite, without the site
  bool ended;              // its ring has been given back; what still comes goes to the shared late ring
  bool has_no_clock;       // it may not read the processor's counter: its events are dropped
  uint8_t must_finish;     // above 0: its calls reach the kernel in any case (kernel.h)
  uint64_t pending_address;
  uint32_t no_ring_left;   // events to count as lost before a ring is asked for again
  uint32_t no_growth_left; // full rings to put up with before a larger one is asked for again
  uint64_t impatient_tail; // 1 + the ring's tail when a wait for it ended without room: not waited for until it moves
  uint32_t generation;     // of `ring`; in `state` only if the clock is the processor's
  uint32_t remembered;     // Allocs during open calls so far; the last of them are in `last`
  uint32_t skipped_site;   // of the last call whose first callback came while the session was stopped
  uint8_t devices[4];      // that it has chosen, of each family of accelerators (deviceOf)
  ThreadPath *path;        // null until the thread takes one
  RecordedAlloc last[kRememberedAllocs];
  OpenCall open[kOpenCalls];
  uint32_t launch_site;          // of the launch that is under way; 0 = none, or what it is given has been told
  uint32_t range_depth;          // of which the last are known, unless deeper ones have taken their places
  OpenRange ranges[kOpenRanges]; // by depth, modulo
  uint64_t told_frame;           // of an operator that has told all that it is given (isTold); 0 = none
};
// A runtime that a dlopen brings gets its thread storage from what glibc keeps for that
// (glibc.rtld.optional_static_tls).
static_assert(sizeof(Thread) <= 512);

[[gnu::always_inline]] inline bool isInside(const Thread &thread, abi::Family family) noexcept {
  return (thread.call.inside & familyBit(family)) != 0;
}

// The device that the thread's calls of this family are about. Others' memory has none, or says it itself.
constexpr bool hasDevices(abi::Family family) { return family >= abi::Family::Cuda && family <= abi::Family::OpenCl; }
static_assert(static_cast<unsigned>(abi::Family::OpenCl) - static_cast<unsigned>(abi::Family::Cuda) <
              sizeof(Thread::devices));
inline uint8_t &chosenDevice(Thread &thread, abi::Family family) noexcept {
  return thread.devices[static_cast<unsigned>(family) - static_cast<unsigned>(abi::Family::Cuda)];
}
inline uint32_t deviceOf(Thread &thread, abi::Traits row) noexcept {
  const bool is_there = row.heap() == abi::Heap::Device || row.heap() == abi::Heap::Managed;
  return is_there && hasDevices(row.family()) ? chosenDevice(thread, row.family()) : 0;
}

inline void openRange(Thread &thread, OpenRange range) noexcept {
  thread.ranges[thread.range_depth++ % kOpenRanges] = range;
}
inline void closeRange(Thread &thread) noexcept {
  if (thread.range_depth != 0)
    thread.ranges[--thread.range_depth % kOpenRanges] = {};
}
// Null: none is open, or it is not known any more.
inline const OpenRange *innermostRange(const Thread &thread) noexcept {
  const OpenRange &range = thread.ranges[(thread.range_depth - 1) % kOpenRanges];
  return thread.range_depth != 0 && range.label != 0 ? &range : nullptr;
}

// Whether a launch from this frame is part of an operator whose memory has been told. One that an exception has left is
// known by the stack, which has come back above it.
inline bool isTold(const Thread &thread, uint64_t frame) noexcept { return frame < thread.told_frame; }

// What the real function behind a hook, or libc for us, does meanwhile must not come back to us. Where nothing else is
// pending, the heap's hooks have a shorter one.
class Inside {
public:
  explicit Inside(Thread &thread, uint16_t whose = kInsideRuntime) noexcept
      : thread_(thread), before_(thread.call.inside) {
    store(before_ | whose);
  }
  ~Inside() { store(before_); }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;

private:
  void store(uint16_t inside) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.call.inside = inside;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Thread &thread_;
  uint16_t before_;
};

// Whole pages of its own, marked MADV_WIPEONFORK: the child of a fork, _Fork or clone finds zeros and starts afresh,
// and a vfork, which borrows the parent's memory, rightly goes on in the parent's rings. No handler has to run for it.
struct alignas(abi::kMaxPageBytes) Process {
  uint64_t state;       // what Thread::state is outside a record: the generation; 0 = no arena yet
  abi::Caller *callers; // null until its pages exist
  PathTree *paths;      // null until a path is taken
  WatchList *watches;   // null until a block is watched
  Counting *counting;   // null until edges are counted
  Arena *arena;
  abi::ClockKind clock;
  uint32_t lock;
  int32_t in_kernel;  // threads that the runtime has sent there (kernel.h)
  bool is_child_told; // that it is a fork's child behind a seccomp filter, and has no files
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
