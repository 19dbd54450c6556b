// The state that the runtime needs to record: one struct per thread, and one per process. The hot path touches only
// this state and the ring.
//
// Both structs are exported, so that a hook records without a call into the runtime. Their layout may differ in each
// build, so the runtime and the hooks must come from the same build.
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

// The site that a callback of the pass left for the hook that is about to run (pending.h).
struct PendingSite {
  uint32_t site; // 0 = no site is pending
  uint32_t traits;
  uint64_t address; // the block of a free or realloc whose event is in the ring already
};

// An instrumented allocator call that has not returned yet. `remembered` is Thread::remembered at the beginning of the
// call.
struct OpenCall {
  uint64_t frame; // the stack pointer at the call's first callback
  uint64_t old;   // the block that a realloc restores if it fails; 0 = none, or a hook restores it
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

// A range of the program that this thread is in, and the site where the range began. It is stored only while a block is
// watched (watch.h).
struct OpenRange {
  uint32_t label, site;
};

inline constexpr uint32_t kRememberedAllocs = 8; // powers of two
inline constexpr uint32_t kOpenCalls = 8;
inline constexpr uint32_t kOpenRanges = 4;

// The state that a hook checks. In most calls all its fields are zero, so the check is one load and one compare. Class
// Inside sets `inside`. `open_calls` is the number of calls in Thread::open.
using abi::CallState;

// While a real function runs, calls of its own family are not recorded. Inside the heap's functions, mappings are not
// recorded either, since the heap makes them for its own supply. If a driver's function frees a host block, this free
// is recorded like any other.
constexpr uint16_t familyBit(abi::Family family) { return static_cast<uint16_t>(1u << static_cast<unsigned>(family)); }
constexpr uint16_t insideOf(abi::Family family) {
  return family == abi::Family::Heap ? familyBit(family) | familyBit(abi::Family::Mmap) : familyBit(family);
}
inline constexpr uint16_t kInsideRuntime = 0xffff;
static_assert(static_cast<unsigned>(abi::Family::Count) < 16, "a bit per family, and one that only the runtime has");

// Parts of Thread::state. The low half is the generation. The high half is the number of records under way. A record
// that begins finds this number above 0 only in a signal handler that interrupted a record. So one compare with
// Process::state shows that the thread has its ring and interrupts no record.
inline constexpr uint64_t kNoGeneration = 1; // no process has this generation: a new thread takes the slow path first
inline constexpr uint64_t kOneRecord = uint64_t{1} << 32;

struct Thread {
  uint64_t state = kNoGeneration;
  abi::RingHeader *ring; // valid while the generation is the process' own
  CallState call;
  uint32_t pending_traits; // PendingSite, without the site
  bool ended;              // the thread's ring has ended; later events go to the shared late ring
  bool has_no_clock;       // the thread may not read the processor's counter: its events are dropped
  uint8_t must_finish;     // above 0: the thread's system calls are always made (kernel.h)
  uint64_t pending_address;
  uint32_t no_ring_left;   // events that are counted as lost before a ring is requested again
  uint32_t no_growth_left; // how often the ring may be full before a larger ring is requested again
  uint64_t impatient_tail; // 1 + the tail after a wait without success: no new wait before the tail changes
  uint32_t generation;     // generation of `ring`; `state` contains it too if the clock is the processor's counter
  uint32_t remembered;     // Allocs during open calls so far; the last of them are in `last`
  uint32_t skipped_site;   // site of the last call whose first callback ran while the session was stopped
  uint8_t devices[4];      // the chosen device of each family of accelerators (deviceOf)
  ThreadPath *path;        // null until the thread needs a path
  RecordedAlloc last[kRememberedAllocs];
  OpenCall open[kOpenCalls];
  uint32_t launch_site;          // site of the launch under way; 0 = none, or its arguments were recorded
  uint32_t range_depth;          // number of open ranges
  OpenRange ranges[kOpenRanges]; // indexed by depth modulo kOpenRanges: a deeper range overwrites an outer one
  uint64_t told_frame;           // frame of an operator that has reported its arguments (isTold); 0 = none
};
// If the runtime is loaded by dlopen, its thread-local storage is taken from glibc's small reserve
// (glibc.rtld.optional_static_tls).
static_assert(sizeof(Thread) <= 512);

[[gnu::always_inline]] inline bool isInside(const Thread &thread, abi::Family family) noexcept {
  return (thread.call.inside & familyBit(family)) != 0;
}

// Whether each thread chooses a device for its calls of this family. Memory of other families has no device, or each
// call names the device.
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
// Returns the innermost open range. Returns null if no range is open, or if a deeper range has overwritten it.
inline const OpenRange *innermostRange(const Thread &thread) noexcept {
  const OpenRange &range = thread.ranges[(thread.range_depth - 1) % kOpenRanges];
  return thread.range_depth != 0 && range.label != 0 ? &range : nullptr;
}

// Whether a launch from this frame is part of an operator that has reported the memory it uses. If an exception has
// left the operator, the stack pointer is above the operator's frame, and the result is false.
inline bool isTold(const Thread &thread, uint64_t frame) noexcept { return frame < thread.told_frame; }

// While an object of this class exists, calls of the families `whose` are not recorded. The real function behind a hook
// makes such calls, and so does libc when the runtime calls it. If no other field of CallState is set, the heap's hooks
// use PlainInside instead (hooks/inline_hook.h).
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

// The process' state fills whole pages, which are marked MADV_WIPEONFORK. So the child of a fork, _Fork or clone finds
// zeros and attaches anew, without a fork handler. A vfork's child shares the parent's memory, and records into the
// parent's rings.
struct alignas(abi::kMaxPageBytes) Process {
  uint64_t state;       // Thread::state outside of a record: the generation; 0 = no arena yet
  abi::Caller *callers; // null until the table's pages exist
  PathTree *paths;      // null until a path is needed
  WatchList *watches;   // null until a block is watched
  Counting *counting;   // null until edges are counted
  Arena *arena;
  abi::LargeBlocks *large_blocks; // the arena's table of large blocks; null until there is an arena
  abi::ClockKind clock;
  uint32_t lock;
  int32_t in_kernel;      // number of threads in a system call of the runtime (kernel.h)
  bool is_child_told;     // whether a fork's child behind a seccomp filter was counted; the child has no files
  uint64_t last_looks_ns; // total time of the last looks at blocks (last_look.cpp)
};

} // namespace msleaks::runtime

extern "C" {
// Initial-exec: the address has a constant offset from the thread pointer. __tls_get_addr is not called, since it may
// allocate.
[[gnu::visibility("default"), gnu::tls_model("initial-exec")]] extern __thread msleaks::runtime::Thread __msl_thread;
[[gnu::visibility("default")]] extern msleaks::runtime::Process __msl_process;

// Points to a word with a bit per EventKind. The word is all ones until the process has looked for its session. After
// that, the pointer refers to the word in the control page, or to a zero word if there is no session.
[[gnu::visibility("default")]] extern const std::atomic<uint32_t> *__msl_enabled;
}
