// The format of the table that describes the control-flow graphs of a module's counted functions, and the functions of
// the runtime that store their counters.
//
//   section msl_graphs      GraphHeader | GraphFunction × functions | GraphBlock × blocks | GraphEdge × edges | strings
//                           | zeros up to a multiple of 8 | GraphArgument × arguments, of kernels
//   each module             GraphUnit: the number of its counters, and the address of its table
//
// The nodes of a graph are the basic blocks of its function, numbered from 1. Node 0 is the outside of the function.
// Edges lead from node 0 into the function (Enter) and back to node 0 (Exit, Leave). So at each node, the counts of the
// incoming edges and of the outgoing edges have the same sum. Only some edges have a counter. The analysis computes the
// other counts from these sums (analysis/counts/).
//
// Each thread counts in its own array of `counters` 64-bit numbers. The thread requests the array when it first enters
// a function of the module:
//
//   %counters = load ptr, ptr @__msl_counters            ; thread_local, null at first
//   br (%counters == null), unlikely first
//   first:  call ptr @__msl_first_count()                ; in the module: calls __msl_counters_of, which is weak
//
// Without a runtime, the array is thread-local storage of the module, and nobody reads it.
#pragma once

#include "msleaks/abi/site_table.h"

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGraphsSection[] = "msl_graphs";
inline constexpr uint32_t kGraphMagic = 0x3147534d; // "MSG1"
inline constexpr uint16_t kGraphVersion = 1;

enum class EdgeKind : uint8_t {
  Enter,    // the function is called
  Branch,   // a branch, conditional or not
  Switch,   // a case of a switch; GraphEdge::value is its value
  Default,  // the default of a switch
  Indirect, // a branch to an address: indirectbr, callbr
  Unwind,   // a call throws, and execution continues at a landing pad
  Exit,     // the function returns, or passes an exception on
  Leave,    // a call does not return (exit, longjmp, throw); a negative count: a call returned twice (setjmp)
};

enum GraphFlag : uint32_t {
  kKernel = 1 << 0,
  kCountsAll = 1 << 1,  // each edge that can have a counter has one
  kUsesOthers = 1 << 2, // the kernel may also use memory to which no argument refers
};
// If only one kernel of the module calls the function, the bits above these flags contain 1 + the number of this
// kernel.
inline constexpr unsigned kCallerShift = 8;

enum EdgeFlag : uint8_t {
  kUnknown = 1 << 0, // the edge cannot have a counter, and its count cannot be computed
};

struct GraphHeader {
  uint32_t magic;        // kGraphMagic
  uint16_t version;      // kGraphVersion of the writer
  uint16_t header_bytes; // sizeof(GraphHeader) of the writer; functions follow
  uint32_t total_bytes;  // size of the whole table, a multiple of 8
  uint32_t counters;     // number of counters of the module
  uint32_t function_count, block_count, edge_count;
  uint16_t function_bytes, block_bytes, edge_bytes, argument_bytes; // row sizes of the writer; newer rows may be longer
  uint32_t strings_bytes; // size of the strings, NUL-terminated UTF-8. The string at offset 0 is empty and means "not
                          // known"
  StringOffset source, producer, target;
  uint32_t checksum; // FNV-1a 32 of every byte after this header
};
static_assert(sizeof(GraphHeader) == 56);

struct GraphFunction {
  uint64_t hash; // hash of blocks, edges and instructions: equal graphs in two builds have equal hashes
  StringOffset name, file;
  uint32_t line;  // 0 = not known
  uint32_t flags; // bits of GraphFlag
  uint32_t first_block, block_count;
  uint32_t first_edge, edge_count;
  uint32_t first_argument, argument_count; // for kernels only; not in rows of kLeastFunctionBytes
};
static_assert(sizeof(GraphFunction) == 48);
inline constexpr uint32_t kLeastFunctionBytes = 40; // size of a row when version 1 was new

struct GraphBlock {
  StringOffset file; // file of the block's first line
  uint32_t line;     // 0 = not known
  uint32_t depth;    // number of loops around the block
  // The numbers of instructions, by class. A call of an intrinsic counts as the instruction that it represents.
  uint32_t integers, floats, loads, stores, calls, branches, others;
  uint32_t loaded_bytes, stored_bytes; // numbers of bytes that one run of the block loads and stores
  StringOffset text;                   // the block's instructions as text; not in rows of kLeastBlockBytes
  uint32_t reserved;
};
static_assert(sizeof(GraphBlock) == 56);
inline constexpr uint32_t kLeastBlockBytes = 48; // size of a row when version 1 was new

inline constexpr uint32_t kNoCounter = UINT32_MAX;
struct GraphEdge {
  uint32_t from, to; // block numbers; 0: outside of the function
  uint32_t counter;  // number in the module, or kNoCounter
  uint16_t ordinal;  // number among the edges between the same two blocks, from 1
  EdgeKind kind;
  uint8_t flags; // bits of EdgeFlag
  int64_t value; // the case's value, for a Switch edge
};
static_assert(sizeof(GraphEdge) == 24);

enum ArgumentUse : uint8_t {
  kIsAddress = 1 << 0, // an address, or a handle of an image; without this bit: a number or a struct
  kReads = 1 << 1,
  kWrites = 1 << 2,
};

// An upper bound of the memory that a kernel may use through one argument.
struct GraphArgument {
  int64_t begin, end; // range of bytes, counted from the argument's address; begin == end: not known
  uint32_t offset;    // offset of the argument in a buffer with all arguments
  uint8_t uses;       // bits of ArgumentUse
  uint8_t reserved[3];
};
static_assert(sizeof(GraphArgument) == 24);

// Refers to the rows of a kernel's arguments in its module's table.
struct ArgumentRows {
  const void *rows; // `count` rows of `row_bytes` each; null: nothing is known
  uint32_t row_bytes, count;
  bool uses_others; // whether the kernel has the flag kUsesOthers
};

// The values of the arguments of one launch. Either `each` contains the address of each argument, or `packed` is the
// address of a buffer with all arguments.
struct GivenArguments {
  void *const *each;
  const char *packed;
  uint64_t packed_bytes;
};

// The session's choice of the launches that are counted, and of the threads that count in them (flags.def).
struct DeviceChoice {
  uint32_t mode, launches; // values of CountMode and CountLaunches
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

// Returns an array of `unit->counters` numbers for the calling thread, or null if the runtime cannot make one. The
// numbers are zeros or earlier counts. Only the calling thread adds to the array. `slot` is the module's thread-local
// pointer to the array. In a fork's child the runtime sets `*slot` to null, since the array belongs to the parent.
extern "C" {
[[gnu::visibility("default")]] uint64_t *__msl_counters_of(const msleaks::abi::GraphUnit *unit,
                                                           uint64_t **slot) noexcept;
// Registers a device's module by its table, and stores the number of the module in `unit`. Returns an array of zeros,
// or null if the session stores no counters or there is no room. The caller stores the sums of the device's threads in
// the array.
[[gnu::visibility("default")]] uint64_t *__msl_device_counters(const msleaks::abi::GraphHeader *table,
                                                               uint32_t *unit) noexcept;
// Returns another array of zeros for a registered module, or null if there is no room. The caller uses it for one or
// more banks (device_counts.h). A reader adds up all arrays of a module.
[[gnu::visibility("default")]] uint64_t *__msl_device_bank(uint32_t unit, uint32_t counters) noexcept;
// Returns a new record of zeros for launches with equal sizes of grid and blocks, or null if there is no room. Readers
// see the record after __msl_publish_launches.
[[gnu::visibility("default")]] msleaks::abi::CountedLaunches *__msl_device_launches(uint32_t unit) noexcept;
[[gnu::visibility("default")]] void __msl_publish_launches(msleaks::abi::CountedLaunches *launches) noexcept;
// Stores in `choice` which launches and which of their threads the session counts. Returns false if there is no
// session.
[[gnu::visibility("default")]] bool __msl_device_choice(msleaks::abi::DeviceChoice *choice) noexcept;
// Returns the path of the program that compiles the source of kernels and inserts counters (msleaks-run --cfg). The
// path is empty if there is no such program, or no session.
[[gnu::visibility("default")]] const char *__msl_kernel_compiler() noexcept;
// Registers how the kernel with this handle uses its arguments. This is for an API that sets the arguments one by one
// before the launch.
[[gnu::visibility("default")]] void __msl_kernel_arguments(const void *kernel,
                                                           const msleaks::abi::ArgumentRows *arguments) noexcept;
// Records the arguments of the launch that this thread has recorded last. Call this before the launch returns. `traits`
// are the traits of the launch's row (symbols.h).
[[gnu::visibility("default")]] void __msl_launch_arguments(uint32_t traits, const msleaks::abi::ArgumentRows *arguments,
                                                           const msleaks::abi::GivenArguments *given) noexcept;
// Removes a module. Call this before the module is unloaded.
[[gnu::visibility("default")]] void __msl_uncount(const msleaks::abi::GraphUnit *unit) noexcept;
}
