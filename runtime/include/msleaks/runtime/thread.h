// The state that the runtime needs to record events: one struct per thread, and one per process. The hot path uses only
// this state and the ring.
//
// Both structs are exported, so a hook can record without calling the runtime. Their layout may change with each build,
// so runtime and hooks must come from the same build.
#pragma once

#include "msleaks/abi/events.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/symbol.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime {

struct Arena;
struct Counting;
namespace python {
class CodeTable;
}
class PathTree;
struct ThreadPath;
struct WatchList;

// The site that a callback of the pass left for the hook that is about to run (pending.h).
struct PendingSite {
  uint32_t site; // 0 = no site is pending
  uint32_t traits;
  uint64_t address; // the block, kernel or destination of the call, or a special value such as kAnyBlock
};

// An instrumented allocator call that has not returned yet. `remembered` is Thread::remembered at the beginning of the
// call.
struct OpenCall {
  uint64_t frame; // the caller's stack pointer at the callback before the call
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

// A range that the program has begun in this thread (msl_range_push), and the site where the range began. If no block
// was watched at that time (watch.h), the site is 0.
struct OpenRange {
  uint32_t label, site;
};

// Stores which open pushes of a thread were recorded, so that the pop of an unrecorded push is not recorded either. The
// class has room for the 16 innermost pushes. A pop of an earlier push is recorded, and so is a pop without a push.
class Pushes {
public:
  void push(bool is_recorded) noexcept {
    unrecorded_ = static_cast<uint16_t>(unrecorded_ << 1 | (is_recorded ? 0 : 1));
  }
  // Removes the innermost push. Returns whether it was recorded.
  bool pop() noexcept {
    const bool is_recorded = (unrecorded_ & 1) == 0;
    unrecorded_ >>= 1;
    return is_recorded;
  }

private:
  uint16_t unrecorded_ = 0; // one bit for each push, the innermost in bit 0; 1 = not recorded
};

inline constexpr uint32_t kRememberedAllocs = 8; // this number and the next two are powers of two
inline constexpr uint32_t kOpenCalls = 8;
inline constexpr uint32_t kOpenRanges = 4;

// The state that a hook checks. Usually all fields of CallState are zero, so the check is one load and one compare.
// Class Inside sets `inside`. `open_calls` is the number of calls in Thread::open.
using abi::CallState;

// While a real function runs, calls of its own family are not recorded. In a heap function, mappings are not recorded
// either, since the heap maps memory for its own blocks. But if a function of a driver frees a host block, the free is
// recorded.
constexpr uint16_t familyBit(abi::Family family) { return static_cast<uint16_t>(1u << static_cast<unsigned>(family)); }
constexpr uint16_t insideOf(abi::Family family) {
  return family == abi::Family::Heap ? familyBit(family) | familyBit(abi::Family::Mmap) : familyBit(family);
}
inline constexpr uint16_t kInsideRuntime = 0xffff;
static_assert(static_cast<unsigned>(abi::Family::Count) < 16, "a bit per family, and one that only the runtime has");

// The parts of Thread::state. The lower half is the generation. The upper half is the number of unfinished records. It
// is above 0 at the beginning of a record only if a signal handler has interrupted another record. So one compare with
// Process::state shows that the thread has a ring and interrupts no record.
inline constexpr uint64_t kNoGeneration = 1; // no process has this generation, so a new thread takes the slow path
inline constexpr uint64_t kOneRecord = uint64_t{1} << 32;

struct Thread {
  uint64_t state = kNoGeneration;
  abi::RingHeader *ring; // valid while `generation` is the generation of the process
  CallState call;
  uint32_t pending_traits; // PendingSite::traits; the site is in `call`
  bool ended;              // the thread's ring has ended; later events go to the shared late ring
  bool has_no_clock;       // the thread may not read the processor's counter: its events are dropped
  uint8_t must_finish;     // above 0: the thread may make system calls under a seccomp filter (kernel.h)
  uint64_t pending_address;
  uint16_t no_ring_left;   // number of events to count as lost before a ring is requested again
  uint16_t no_growth_left; // how many more times the ring may be full before a larger ring is requested again
  Pushes range_pushes, owner_pushes;
  uint64_t impatient_tail; // 1 + the tail after a wait in vain; the thread does not wait again before the tail changes
  uint32_t generation;     // generation of the process that `ring` belongs to
  uint32_t remembered;     // number of Allocs during open calls so far; the newest are in `last`
  uint32_t skipped_site;   // site of the last call whose first callback ran while the session was stopped
  uint8_t devices[4];      // the chosen device of each family of accelerators (deviceOf)
  ThreadPath *path;        // null until the thread needs a path
  RecordedAlloc last[kRememberedAllocs];
  OpenCall open[kOpenCalls];
  uint32_t launch_site;          // site of the launch that has not returned; 0 = none, or its arguments were recorded
  uint32_t range_depth;          // number of open ranges
  OpenRange ranges[kOpenRanges]; // indexed by depth modulo kOpenRanges: a deeper range overwrites an outer one
  uint64_t told_frame;           // frame of an operator that has reported its arguments (isTold); 0 = none
};
// Limits the thread-local storage: if the runtime is loaded by dlopen, the storage must fit into glibc's small reserve
// (glibc.rtld.optional_static_tls).
static_assert(sizeof(Thread) <= 512);

[[gnu::always_inline]] inline bool isInside(const Thread &thread, abi::Family family) noexcept {
  return (thread.call.inside & familyBit(family)) != 0;
}

// Whether a thread has a chosen device for its calls of this family. Events of other families have the device 0.
constexpr bool hasDevices(abi::Family family) { return family >= abi::Family::Cuda && family <= abi::Family::OpenCl; }
static_assert(static_cast<unsigned>(abi::Family::OpenCl) - static_cast<unsigned>(abi::Family::Cuda) <
              sizeof(Thread::devices));
inline uint8_t &chosenDevice(Thread &thread, abi::Family family) noexcept {
  return thread.devices[static_cast<unsigned>(family) - static_cast<unsigned>(abi::Family::Cuda)];
}
inline uint32_t deviceOf(Thread &thread, abi::Traits row) noexcept {
  const bool is_there =
      row.heap() == abi::Heap::Device || row.heap() == abi::Heap::Managed || row.heap() == abi::Heap::Imported;
  return is_there && hasDevices(row.family()) ? chosenDevice(thread, row.family()) : 0;
}

inline void openRange(Thread &thread, OpenRange range) noexcept {
  thread.ranges[thread.range_depth++ % kOpenRanges] = range;
}
inline void closeRange(Thread &thread) noexcept {
  if (thread.range_depth != 0)
    thread.ranges[--thread.range_depth % kOpenRanges] = {};
}
// Returns the innermost open range, or null if no range is open, or if a deeper range has overwritten it.
inline const OpenRange *innermostRange(const Thread &thread) noexcept {
  const OpenRange &range = thread.ranges[(thread.range_depth - 1) % kOpenRanges];
  return thread.range_depth != 0 && range.label != 0 ? &range : nullptr;
}

// Whether a launch from this frame is part of an operator that has reported its memory. After an exception has left the
// operator, the stack pointer is above the operator's frame, so the result is false.
inline bool isTold(const Thread &thread, uint64_t frame) noexcept { return frame < thread.told_frame; }

// While an object of this class exists, calls of the families `whose` are not recorded. Such calls are made by the real
// function behind a hook, and by libc for the runtime. If all other fields of CallState are zero, the heap's hooks use
// PlainInside instead (hooks/host/inline_hook.h).
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

// The state of the process. It fills whole pages, which are marked MADV_WIPEONFORK. So the child of a fork, _Fork or
// clone finds zeros and attaches again, without a fork handler. A vfork's child shares the parent's memory, and records
// into the parent's rings.
struct alignas(abi::kMaxPageBytes) Process {
  uint64_t state;       // the value of Thread::state outside of a record, which is the generation; 0 = no arena yet
  abi::Caller *callers; // null until the table's pages exist
  PathTree *paths;      // null until a path is needed
  WatchList *watches;   // null until a block may be watched
  Counting *counting;   // null until edges are counted
  python::CodeTable *python_codes; // null until a path contains calls of Python code
  Arena *arena;
  abi::LargeBlocks *large_blocks; // the arena's table of large blocks; null until there is an arena
  abi::ClockKind clock;
  uint32_t lock;
  int32_t in_kernel;    // number of threads in a system call of the runtime (kernel.h)
  bool is_child_told;   // whether this process was counted as a fork's child under a seccomp filter, which has no files
  bool chooses_devices; // only blocks of some devices are recorded (msleaks/abi/chosen_devices.h)
  uint64_t last_looks_ns;        // total time of the last looks at blocks (last_look.cpp)
  uint64_t look_begin, look_end; // the memory that a driver fills now for a look at a watched block; 0 = no look
};

} // namespace msleaks::runtime

extern "C" {
// With the model initial-exec, the variable has a constant offset from the thread pointer. So __tls_get_addr, which may
// allocate, is not called.
[[gnu::visibility("default"), gnu::tls_model("initial-exec")]] extern __thread msleaks::runtime::Thread __msl_thread;
[[gnu::visibility("default")]] extern msleaks::runtime::Process __msl_process;

// Points to a word with one bit per EventKind. All bits are 1 until the process has looked for its session. After that,
// the word is in the control page. If there is no session, the word is 0.
[[gnu::visibility("default")]] extern const std::atomic<uint32_t> *__msl_enabled;
}

namespace msleaks::runtime {

// Whether a copy to this address belongs to a look at a watched block. A driver may copy in a thread of its own, where
// CallState does not show the look.
inline bool isForLook(const void *to) noexcept {
  const auto address = reinterpret_cast<uint64_t>(to);
  return __atomic_load_n(&__msl_process.look_begin, __ATOMIC_RELAXED) <= address &&
         address < __atomic_load_n(&__msl_process.look_end, __ATOMIC_RELAXED);
}

} // namespace msleaks::runtime
