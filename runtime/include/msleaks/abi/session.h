// The layout of a session's shared memory. msleaks-run, the runtime in each process and `msleaks recover` use this
// memory.
//
//   $MSLEAKS_SESSION/                     a directory of the session's own, 0700, normally in /dev/shm
//     control                             ControlPage: written by msleaks-run, mapped read-only by every process
//     unseen                              UnseenPage: counts of all processes, and a list of processes without an arena
//     <pid>.<attach ticks, hex>.rings     Arena: one per process image, made when hooks load or at the first event
//     <pid>.<attach ticks, hex>.defs      definitions of that image (definitions.h), appended
//
// An arena begins with a header and three tables. After the tables, the process appends rings and blocks of path nodes
// (PathNode) when it needs them:
//
//   ArenaHeader | RingEntry × kMaxRings | Caller × kMaxCallers | PathBlock × kMaxPathBlocks | ring or block | …
//
// Each ring and each block of path nodes is mapped on its own. So each begins at a multiple of the kernel's page size,
// ArenaHeader::page_bytes.
//
// The file is sparse: the process allocates pages of the file before it touches them. So a full file system never
// causes a SIGBUS. It causes an error that the process can count. A reader must touch only the parts that have pages:
//
//   the first ring_count entries of RingEntry, and their rings
//   the Caller of each recorded site
//   the path nodes below path_count
//
// If a file is empty or has no magic after its process has ended, the process had no room to record.
//
// All published data stays readable if the process or the collector is killed. For this, the files have names, and
// every field is valid without a shutdown. A fork's child gets a new arena. An exec also begins a new arena.
#pragma once

#include "msleaks/abi/events.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/version.h"

#include <atomic>
#include <cstdint>

namespace msleaks::abi {

inline constexpr char kSessionVariable[] = "MSLEAKS_SESSION";
inline constexpr char kControlFile[] = "control";
inline constexpr char kUnseenFile[] = "unseen";
inline constexpr uint64_t kHeaderBytes = 4096; // room for a ControlPage, an ArenaHeader or a RingHeader

// The page size is fixed when the kernel is built: 4 KiB on x86-64; 4, 16 or 64 KiB on AArch64, PowerPC and others.
inline constexpr uint64_t kMinPageBytes = 4096;
#if defined(__x86_64__)
inline constexpr uint64_t kMaxPageBytes = kMinPageBytes;
#else
inline constexpr uint64_t kMaxPageBytes = 65536;
#endif

enum class ClockKind : uint32_t {
  Tsc,       // the processor's counter; the collector converts its values to CLOCK_MONOTONIC
  Monotonic, // clock_gettime(CLOCK_MONOTONIC), in ns
};

enum class SessionState : uint32_t { Open, Closed };

// Converts ticks to nanoseconds: ns(t) = ns + (t - ticks) * ns_per_tick. The collector updates these values, often at
// first and then every second. A reader of a session whose collector has died uses the last values. `version` is odd
// while the collector writes.
struct ClockFit {
  std::atomic<uint32_t> version;
  uint32_t reserved;
  std::atomic<uint64_t> ticks;
  std::atomic<uint64_t> ns;
  std::atomic<uint64_t> ns_per_tick_q32; // fixed-point number with 32 fractional bits
};

// The blocks that the user asks to watch with --watch (docs/watch.md). The program may also watch blocks by msl_watch.
// The kind Output means the outputs of the operation `begin`, if its hook reports them (hook::Output).
enum class WatchKind : uint32_t { None, Address, Line, Name, Output };
struct WatchWish {
  WatchKind kind;
  uint32_t line; // line of the file `what`: watches the blocks that calls in this line allocate, directly or in callees
  uint64_t address, bytes; // bytes 0 = the whole block
  char what[256];          // path of the file, or the name of the only msl_watch whose block is compared
  // Operations: blocks are compared from the end of `begin` to the end of `end`. An empty name means no limit.
  char begin[128], end[128];
  uint32_t output;   // number of the output: 1 = the first; 0 = all outputs
  char folder[1024]; // folder for files with the content of blocks; empty: no such files
};
inline constexpr uint64_t kRefusedFile = UINT64_MAX; // value of ContentEvent::file if the file was refused

struct ControlPage {
  static constexpr uint64_t kMagic = 0x4c544353'4c534d01; // each version of the layout has its own number
  uint64_t magic;
  uint32_t session_version; // kSessionVersion
  uint32_t collector_pid;
  ClockKind clock;
  Flags flags;
  WatchWish watch;
  alignas(64) std::atomic<uint32_t> enabled; // one bit for each EventKind; 0 = record nothing
  std::atomic<SessionState> state;
  // Only collectors use these fields. If a collector is killed, the next collector continues with them.
  std::atomic<uint32_t> selected;     // value of `enabled` while the session records
  std::atomic<uint64_t> epoch;        // EpochEvent::number; changes whenever `enabled` changes
  std::atomic<uint64_t> epoch_stored; // the trace contains the events up to this epoch
  std::atomic<uint64_t> since_ns;     // CLOCK_MONOTONIC of the last change of `enabled`
  // CLOCK_MONOTONIC of the collector's last round. Every record reads `enabled`, so this field is in another cache
  // line.
  alignas(64) std::atomic<uint64_t> heartbeat_ns;
  // The thread id of the collector, in a robust futex (set_robust_list(2)). The kernel sets kOwnerGone when that thread
  // ends or is killed. A process can read this field even if it cannot see the collector's pid. 0 = the collector has
  // not locked the futex yet.
  std::atomic<uint32_t> collector_thread;
  alignas(64) ClockFit fit;
  char counts_folder[1024];  // folder of files with counters (counts_file.h); empty: none
  uint32_t seccomp_filters;  // number of seccomp filters of the collector, for example of its container
  char kernel_compiler[512]; // path of the compiler for kernels given as source (driver/opencl); empty: none
};
static_assert(sizeof(ControlPage) <= kHeaderBytes);
inline constexpr uint32_t kOwnerGone = 0x4000'0000; // FUTEX_OWNER_DIED of the kernel

// A process without an arena, which is listed in UnseenPage.
struct UnseenProcess {
  uint32_t pid;
  int32_t error; // errno of the failed call, or a constant below
  char name[16];
  std::atomic<uint32_t> ready; // 1: the entry is complete; stored last
  uint32_t reserved;
};
inline constexpr int32_t kUnfollowed = 0; // the process started with an environment that does not name the session
inline constexpr int32_t kStayed = -1;    // the exec failed: readers skip this entry
inline constexpr int32_t kSandboxed = -2; // the program that started the process had installed a seccomp filter
// The process is a fork's child under a seccomp filter of its nearest ancestor with an arena. `pid` is the pid of this
// ancestor.
inline constexpr int32_t kChildOfSandboxed = -3;
inline constexpr uint32_t kMaxUnseen = 100;
// The most shared memory that new threads and processes may allocate while the session has no collector. Nobody drains
// their rings, and this may last for days.
inline constexpr uint32_t kMaxOrphanKib = 16384;
// Counts that all processes of the session share. Each process maps this page when it finds the session, and a fork
// keeps the mapping. So a child is counted even if it may not open files in the session's directory.
struct UnseenPage {
  static constexpr uint64_t kMagic = 0x4e45534e'4c534d01;
  uint64_t magic;
  std::atomic<uint64_t> dropped;    // lost events of processes that could not make an arena yet
  std::atomic<uint32_t> count;      // processes without an arena; the first kMaxUnseen of them are listed
  std::atomic<uint32_t> orphan_kib; // shared memory that all processes have allocated since the collector ended
  // The number of the last file that a process wrote to WatchWish::folder (the first file is 1), and the bytes of all
  // these files. Flags::watch_max limits the bytes.
  std::atomic<uint64_t> watch_files, watch_bytes;
  UnseenProcess processes[kMaxUnseen];
};
static_assert(sizeof(UnseenPage) <= kHeaderBytes);

// Events that exist only with kernel evidence share the lowest bit. msleaks-run sets this bit for --kernel.
inline constexpr uint32_t kKernelEvidence = 1;
// TookEvent::thread.
inline constexpr uint64_t kTookIsFirst = uint64_t{1} << 32; // the event of the call comes later
inline constexpr unsigned kTookKindShift = 33;
enum class TookKind : uint8_t { Alloc, Launch, Copy, Set };
constexpr bool isOfKernel(EventKind kind) { return kind >= EventKind::Took && kind < EventKind::Continuation; }
constexpr uint32_t enabledBit(EventKind kind) {
  return isOfKernel(kind) ? kKernelEvidence : 1u << static_cast<uint8_t>(kind);
}
// The highest bits of `enabled` contain Flags::call_stack.
inline constexpr uint32_t kPathsOfCallers = 1u << 30, kPathsOfSites = 1u << 31, kPathBits = 3u << 30;
constexpr uint32_t pathBits(CallStack wish) {
  return wish == CallStack::None ? 0 : wish == CallStack::Auto ? kPathsOfCallers : kPathBits;
}
constexpr uint32_t enabledFor(uint32_t kinds, CallStack wish) { return (kinds & ~kPathBits) | pathBits(wish); }

// The states of a ring. Only the process sets Claimed, Live and Ended. The collector sets Drained. The process sets
// Drained only for rings that it has reserved (reserveRings).
enum class RingState : uint32_t {
  Unused,
  Claimed, // claimed by a thread that is preparing it
  Live,
  Ended,   // its thread has ended or has a larger ring; no more events are added
  Drained, // a thread may claim the ring: the collector has stored all events of an Ended ring, or the ring is new
};

struct RingEntry {
  std::atomic<RingState> state;
  uint32_t reserved;
  uint64_t offset; // offset of the RingHeader in the arena
  uint64_t bytes;  // size of header and slots
};

// A caller is a place in the code that called a hook, mostly in uninstrumented code. The site number (events.h) of a
// caller is kCallerSite | the caller's index.
struct Caller {
  std::atomic<uint64_t> address; // return address; 0 = this entry is empty
  uint32_t image;                // ImageDefinition::image; valid once address is set
  uint32_t reserved;
};

// This bit in Caller::address marks a caller whose image was unloaded. No address of a program has this bit. If another
// library is loaded at the same addresses, its callers get new entries. So old events still refer to the right entries.
inline constexpr uint64_t kRetiredCaller = uint64_t{1} << 63;

// One call of a path, with the node of the call around it. The innermost call may also be a site in instrumented code.
// The site number (events.h) of a path is kPathSite | the number of its innermost node.
struct PathNode {
  // The return address, or a site number. If several calls of a library have this node, the address of the library's
  // function that the outermost of them is in, + 1. Other values are described at kImageOfPython and kImageOfJoin.
  uint64_t address;
  uint32_t parent; // the node of the call around this call, or kPathBegin or kPathUnknown
  uint32_t image;  // ImageDefinition::image; 0 = not known; or a constant below
};
inline constexpr uint32_t kImageOfSite = UINT32_MAX; // `address` is a site number
// A call of Python code. `address` is the code's number (PythonCodeDefinition) * 2^32 + the line. `parent` is a call of
// Python code, too.
inline constexpr uint32_t kImageOfPython = UINT32_MAX - 1;
// No call: the calls of the path to `parent` evaluate Python code. The lower half of `address` is the node of the
// innermost call of this code. The upper half is the number of calls in the path that are inside the innermost
// evaluation.
inline constexpr uint32_t kImageOfJoin = UINT32_MAX - 2;
inline constexpr uint32_t kPathBegin = 0;   // this call is the first call of the thread
inline constexpr uint32_t kPathUnknown = 1; // the runtime could not find the calls around this call
inline constexpr uint32_t kFirstPath = 2;
inline constexpr uint32_t kMaxPathDepth = 1024;

// The number of nodes in one block.
inline constexpr uint32_t kPathBlockNodes = 1024;
inline constexpr uint32_t kMaxPathBlocks = 2048;
struct PathBlock {
  uint64_t offset; // offset of the block in the arena
};

// The states of a futex (ArenaHeader::reach_wait). A process that exits or sets a mark (msl_mark) waits on this futex
// until the collector has read the process's memory (Flags::reach). The process sets Claimed, Waiting and GaveUp; the
// collector sets Reading and Read. Both change the state by compare-and-exchange. Only the change from Claimed to
// Waiting, by the claiming thread, is a plain store. A thread may claim the futex only while its state is None, Read or
// GaveUp.
enum class ReachWait : uint32_t { None, Waiting, Reading, Read, GaveUp, Claimed };

// The state of a thread's calls. It is in the runtime's thread-local storage, at ArenaHeader::call_state_offset. The
// first word of this storage is Thread::state (runtime/thread.h); its upper half is above 0 while the thread writes an
// event.
struct alignas(uint64_t) CallState {
  uint32_t site;       // the pending site, which a callback has stored; written last
  uint16_t inside;     // one bit for each family; if the bit is set, calls of the family are not recorded now
  uint16_t open_calls; // number of open allocator calls that are instrumented (Thread::open)
};
static_assert(sizeof(CallState) == sizeof(uint64_t));

// The header of each piece of the runtime's anonymous memory.
struct alignas(64) OwnMemory {
  static constexpr uint64_t kMagic = 0x4d4e574f'4c534d01;
  uint64_t magic;
  OwnMemory *next;
  uint64_t bytes; // size of the piece, including this header
  std::atomic<uint32_t> in_use;
};

// An address range of the code of the line that WatchWish names.
struct WatchRange {
  uint64_t begin, end;
};
inline constexpr uint32_t kMaxWatchRanges = 48;

// A host block that the process looks at once more, just before it frees the block (--access pages). The process then
// removes the entry. Only the collector adds entries, and it stores `address` last. An entry with the address 0 is
// empty.
struct LargeBlock {
  std::atomic<uint64_t> address, size, time_ns; // address, size and time of the block's Alloc
};
inline constexpr uint32_t kLargeBlocks = 24, kSampledBlocks = 112, kLargeFilterWords = 64;
struct LargeBlocks {
  alignas(64) std::atomic<uint64_t> filter[kLargeFilterWords]; // one bit for each block; every free checks this first
  LargeBlock blocks[kLargeBlocks]; // the largest blocks: the process reads which of their pages were touched
  // A sample of smaller blocks: the process reads how much of them is needed (sampled_block.h). Each block has only one
  // possible entry: sampleIndexOf.
  LargeBlock samples[kSampledBlocks];
};
static_assert(sizeof(LargeBlocks) <= kHeaderBytes);
// Returns the index of a block's bit in LargeBlocks::filter.
constexpr uint32_t largeBitOf(uint64_t address) {
  static_assert(kLargeFilterWords * 64 == 1 << 12);
  return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15 >> (64 - 12));
}
constexpr uint32_t sampleIndexOf(uint64_t address) { return largeBitOf(address) % kSampledBlocks; }

struct ArenaHeader {
  static constexpr uint64_t kMagic = 0x4e455241'4c534d01;
  std::atomic<uint64_t> magic; // stored last: an arena without magic was never used
  uint32_t session_version;    // kSessionVersion
  uint32_t slot_bytes;
  uint32_t pid;
  uint32_t parent_pid;
  ClockKind clock;
  uint32_t exec_id;      // a number that differs between the execs of a process
  uint64_t attach_ticks; // time of attaching, in ticks of the session's clock
  uint64_t attach_ns;    // the same time, by CLOCK_MONOTONIC
  uint64_t attach_realtime_ns;
  uint64_t rings_offset;   // offset of RingEntry[kMaxRings]
  uint64_t callers_offset; // offset of Caller[kMaxCallers]
  uint32_t max_rings;
  uint32_t max_callers;
  alignas(64) std::atomic<uint32_t> ring_count; // number of entries that were ever used
  std::atomic<uint32_t> thread_count;           // number of streams so far, which is the next stream number
  std::atomic<uint64_t> file_bytes;             // end of the last ring or block of path nodes
  std::atomic<uint64_t> dropped_no_ring;        // events of threads without a ring, or of signal handlers inside malloc
  alignas(64) char command[2048]; // /proc/self/cmdline of the process or its ancestor: arguments, each ended by NUL
  uint32_t command_bytes;
  std::atomic<uint32_t> definitions_refused; // definitions and notes that the .defs file does not contain
  uint32_t page_bytes;                       // page size of the kernel; each mapped part has whole pages
  // The inode of /proc/self/ns/pid, since a pid is unique only in its pid namespace. 0 = not known.
  uint64_t pid_namespace;
  uint64_t process_birth;        // 0 = not known; see isOtherProcess
  std::atomic<uint32_t> leaving; // 1: the process calls exec. The new image has its own arena, or is not recorded
  // For a fork's child: the nearest process with an arena that it was forked from, often the parent. The units and
  // labels that this ancestor had defined before the fork are valid in the child too, and are not defined again.
  uint32_t ancestor_pid;               // 0 = there is no such ancestor
  std::atomic<uint64_t> exit_ns;       // CLOCK_MONOTONIC at the end of a normal exit; 0 = not reached
  uint64_t ancestor_attach_ns;         // attach_ns of the ancestor
  uint64_t path_blocks_offset;         // offset of PathBlock[kMaxPathBlocks]
  std::atomic<uint32_t> path_count;    // the numbers from kFirstPath to path_count - 1 have a node
  std::atomic<uint32_t> paths_refused; // number of paths for which there was no room
  // While `reach_wait` is Waiting or Reading, these fields describe the thread that waits.
  std::atomic<ReachWait> reach_wait;
  uint32_t reach_tid;
  uint64_t reach_since_ns;       // CLOCK_MONOTONIC when the wait began
  uint64_t reach_stack;          // stack pointer; the callers' registers are saved on the stack above it
  uint64_t reach_thread_pointer; // thread pointer of the waiting thread
  uint32_t reach_at_exit;        // 1 = the thread waits at the exit; 0 = at a mark
  // The size of the runtime's thread-local storage (0 = not known), and its offset from the thread pointer.
  uint32_t thread_bytes;
  int64_t thread_offset;
  uint32_t call_state_offset; // offset of CallState in the runtime's thread-local storage
  // If a line is watched, the process asks the collector for the addresses of the line's code in each image. It waits
  // on the futex `watch_image`, which is the image's number until the collector has added the ranges and stored 0.
  std::atomic<uint32_t> watch_image;
  std::atomic<uint32_t> watch_ranges;
  WatchRange watch_range[kMaxWatchRanges];
  // 1: the program has installed a seccomp filter, and the runtime makes no system call any more.
  std::atomic<uint32_t> filters;
  uint64_t own_memory;          // address of a pointer to the first OwnMemory; 0 = not known
  uint64_t large_blocks_offset; // offset of LargeBlocks; 0 = the arena has none
};
static_assert(sizeof(ArenaHeader) <= kHeaderBytes);

// ArenaHeader::process_birth identifies a process, since the kernel may reuse a pid immediately. It is the inode of the
// process's pidfd with this bit set (pidfs, Linux 6.9), or its start time in clock ticks. An exec does not change these
// values.
inline constexpr uint64_t kBirthIsInode = uint64_t{1} << 63;
// Whether two values of process_birth certainly belong to two processes. Values of different kinds cannot be compared.
constexpr bool isOtherProcess(uint64_t birth, uint64_t other) {
  return birth != 0 && other != 0 && ((birth ^ other) & kBirthIsInode) == 0 && birth != other;
}

inline constexpr uint32_t kMaxRings = 16384;
inline constexpr uint32_t kMaxCallers = 65536; // 2^16, since callerSlot() returns 16 bits of a hash
// The stream number of events that the collector itself records about a process. No thread has this number.
inline constexpr uint32_t kCollectorStream = UINT32_MAX;

// A single-producer, single-consumer ring of slots; the slots follow at kHeaderBytes. Positions count slots since the
// stream began and never wrap; slot = position mod capacity. A stream (a thread) may use several rings, one after the
// other. Each ring stores the position at which it begins.
//
// Times in a ring are not strictly ascending: a signal handler may record an event in the middle of another record. The
// handler's event then has a later time, but may have the lower position. With the policy `overwrite` the producer
// never reads `tail`. In that case a reader copies the slots, then reads `reserved`, and drops the slots at positions
// below reserved - capacity.
struct RingHeader {
  static constexpr uint64_t kMagic = 0x474e4952'4c534d01;
  // These fields do not change while the ring is Live.
  uint64_t magic;
  uint32_t stream; // thread number within the process, from 0
  uint32_t tid;
  uint64_t capacity; // number of slots, a power of two
  uint64_t first_position;
  char thread_name[16];

  // Only the producer (the owning thread and its signal handlers) writes these fields.
  alignas(64) uint64_t reserved; // position after the last reserved slot
  uint64_t room_until; // position up to which the producer may write; computed from an earlier value of `tail`
  uint32_t depth;      // upper limit of the thread's unfinished records (kMaxNesting); signal handlers nest
  uint32_t gap;        // events dropped since the last stored event

  // The totals of the stream so far. A larger ring takes them over from the thread's previous ring before it becomes
  // Live. So the stream's last ring has the totals, even if a collector is killed between two rings.
  uint64_t produced;   // number of events, stored or dropped
  uint64_t dropped;    // events for which there was no room
  uint64_t stalled_ns; // time for which the thread waited for room

  alignas(64) std::atomic<uint64_t> head; // the events before this position are published (release)
  alignas(64) std::atomic<uint64_t> tail; // the consumer has stored the events before this position (release)
};
static_assert(sizeof(RingHeader) <= kHeaderBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

} // namespace msleaks::abi
