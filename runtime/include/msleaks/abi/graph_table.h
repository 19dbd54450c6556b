// The graphs of a module's counted functions, and where their counters are.
//
//   section msl_graphs      GraphHeader | GraphFunction × functions | GraphBlock × blocks | GraphEdge × edges | strings
//                           | zeros up to a multiple of 8 | GraphArgument × arguments, of kernels
//   each module             GraphUnit: how many counters it has, and its table
//
// A graph has the blocks of its function, numbered from 1, and a node 0: the outside. Edges come in from there (Enter)
// and go out to there (Exit, Leave), so that what flows into each node flows out of it. Only some edges have a counter;
// the others follow from these (analysis/graphs/).
//
// Each thread counts in an array of its own, `counters` numbers of 64 bits, which it asks for when it first enters a
// function of the module:
//
//   %counters = load ptr, ptr @__msl_counters            ; thread_local, null at first
//   br (%counters == null), unlikely first
//   first:  call ptr @__msl_first_count()                ; in the module: asks __msl_counters_of, which is weak
//
// Without a runtime the array is thread-local storage of the module, and nobody reads it.
#pragma once

#include "msleaks/abi/site_table.h"

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGraphsSection[] = "msl_graphs";
inline constexpr uint32_t kGraphMagic = 0x3147534d; // "MSG1"
inline constexpr uint16_t kGraphVersion = 1;

enum class EdgeKind : uint8_t {
  Enter,    // the function is called
  Branch,   // also of two ways
  Switch,   // of a case with `value`
  Default,  // of a switch
  Indirect, // to an address: indirectbr, callbr
  Unwind,   // to where an exception is handled
  Exit,     // the function returns, or passes an exception on
  Leave, // a call in the block does not come back (exit, longjmp, an exception); below 0: it comes back again (setjmp)
};

enum GraphFlag : uint32_t {
  kKernel = 1 << 0,
  kCountsAll = 1 << 1,  // each edge that can have a counter has one
  kUsesOthers = 1 << 2, // of a kernel: it may use memory that none of its arguments is the address of
};
// Above them, of a function that one kernel of the module calls and no other: 1 + the number of that kernel.
inline constexpr unsigned kCallerShift = 8;

enum EdgeFlag : uint8_t {
  kUnknown = 1 << 0, // it can have no counter, and does not follow from others
};

struct GraphHeader {
  uint32_t magic;        // kGraphMagic
  uint16_t version;      // kGraphVersion of the writer
  uint16_t header_bytes; // sizeof(GraphHeader) of the writer; functions follow
  uint32_t total_bytes;  // of the whole table, a multiple of 8
  uint32_t counters;     // of the module
  uint32_t function_count, block_count, edge_count;
  uint16_t function_bytes, block_bytes, edge_bytes, argument_bytes; // of the writer: a newer one may be longer
  uint32_t strings_bytes; // NUL-terminated UTF-8; offset 0 is empty: not known
  StringOffset source, producer, target;
  uint32_t checksum; // FNV-1a 32 of every byte after this header
};
static_assert(sizeof(GraphHeader) == 56);

struct GraphFunction {
  uint64_t hash; // of blocks, edges and instructions: equal graphs of two builds have equal hashes
  StringOffset name, file;
  uint32_t line;  // 0 = not known
  uint32_t flags; // GraphFlag
  uint32_t first_block, block_count;
  uint32_t first_edge, edge_count;
  uint32_t first_argument, argument_count; // of a kernel; not in rows of kLeastFunctionBytes
};
static_assert(sizeof(GraphFunction) == 48);
inline constexpr uint32_t kLeastFunctionBytes = 40; // of version 1, as it was first written

struct GraphBlock {
  StringOffset file; // of its first line
  uint32_t line;     // 0 = not known
  uint32_t depth;    // loops around it
  // Instructions by class; a call of an intrinsic is what it does.
  uint32_t integers, floats, loads, stores, calls, branches, others;
  uint32_t loaded_bytes, stored_bytes; // once through it
  StringOffset text;                   // its instructions, for people; not in rows of kLeastBlockBytes
  uint32_t reserved;
};
static_assert(sizeof(GraphBlock) == 56);
inline constexpr uint32_t kLeastBlockBytes = 48; // of version 1, as it was first written

inline constexpr uint32_t kNoCounter = UINT32_MAX;
struct GraphEdge {
  uint32_t from, to; // block numbers; 0: outside
  uint32_t counter;  // of the module's; or kNoCounter
  uint16_t ordinal;  // among the edges between the same two, from 1
  EdgeKind kind;
  uint8_t flags; // EdgeFlag
  int64_t value; // of a Switch edge
};
static_assert(sizeof(GraphEdge) == 24);

enum ArgumentUse : uint8_t {
  kIsAddress = 1 << 0, // or a handle of an image; without this bit a number, or a struct
  kReads = 1 << 1,
  kWrites = 1 << 2,
};

// What a kernel may do with the memory that an argument is the address of; it does no more than that.
struct GraphArgument {
  int64_t begin, end; // bytes from the address; equal: not known
  uint32_t offset;    // where the argument lies, of all of them behind each other
  uint8_t uses;       // ArgumentUse
  uint8_t reserved[3];
};
static_assert(sizeof(GraphArgument) == 24);

// A kernel's rows, in its module's table.
struct ArgumentRows {
  const void *rows; // `count`, each of `row_bytes`; null: nothing is known
  uint32_t row_bytes, count;
  bool uses_others; // kUsesOthers
};

// Of one launch: the addresses of its arguments, or the first byte of all of them behind each other.
struct GivenArguments {
  void *const *each;
  const char *packed;
  uint64_t packed_bytes;
};

// Which launches of kernels are counted, and whose edges (flags.def).
struct DeviceChoice {
  uint32_t mode, launches; // CountMode, CountLaunches
  uint64_t number;
};

struct CountedLaunches;

struct GraphUnit {
  uint16_t version; // kGraphVersion of the writer
  uint16_t bytes;   // sizeof(GraphUnit) of the writer
  uint32_t counters;
  const GraphHeader *table;
};
static_assert(sizeof(GraphUnit) == 16);

} // namespace msleaks::abi

// An array of `unit->counters` zeros or earlier counts for the calling thread, which is the only one that adds to it;
// null: there is none. `slot` is the thread-local pointer that it is kept in: nulled where the array is not the
// process's any more (behind a fork).
extern "C" {
[[gnu::visibility("default")]] uint64_t *__msl_counters_of(const msleaks::abi::GraphUnit *unit,
                                                           uint64_t **slot) noexcept;
// A module of a device, by its table: zeros, where the caller stores what the device has counted (all of its threads
// together), and the number of the unit. Null: there is no session, or no room.
[[gnu::visibility("default")]] uint64_t *__msl_device_counters(const msleaks::abi::GraphHeader *table,
                                                               uint32_t *unit) noexcept;
// The same once more for a module, all counts of which are added up: of some of its banks.
[[gnu::visibility("default")]] uint64_t *__msl_device_bank(uint32_t unit, uint32_t counters) noexcept;
// For the launches of one shape, all zeros; null: no room. It is there for readers once it is published.
[[gnu::visibility("default")]] msleaks::abi::CountedLaunches *__msl_device_launches(uint32_t unit) noexcept;
[[gnu::visibility("default")]] void __msl_publish_launches(msleaks::abi::CountedLaunches *launches) noexcept;
// What the session says of kernels. False: there is no session.
[[gnu::visibility("default")]] bool __msl_device_choice(msleaks::abi::DeviceChoice *choice) noexcept;
// The program that compiles what a driver is given as source, so that its kernels count (msleaks-run --cfg). Empty:
// there is none, or no session.
[[gnu::visibility("default")]] const char *__msl_kernel_compiler() noexcept;
// What the kernel does with its arguments, where an API sets them one by one before the launch: `kernel` is its handle.
[[gnu::visibility("default")]] void __msl_kernel_arguments(const void *kernel,
                                                           const msleaks::abi::ArgumentRows *arguments) noexcept;
// What the launch that this thread has recorded, and not yet left, is given; `traits`: of its row (symbols.h).
[[gnu::visibility("default")]] void __msl_launch_arguments(uint32_t traits, const msleaks::abi::ArgumentRows *arguments,
                                                           const msleaks::abi::GivenArguments *given) noexcept;
// The module is about to go.
[[gnu::visibility("default")]] void __msl_uncount(const msleaks::abi::GraphUnit *unit) noexcept;
}
