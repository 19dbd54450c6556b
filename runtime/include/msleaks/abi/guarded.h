// The protocol between `msleaks verify`, which traces a program, and the hooks and the runtime in that program. The
// protocol serves two kinds of blocks. A guarded block is a host block on pages of its own, so the tracer sees each
// access to it. A watched block (msl_watch) stays at its address. The program reports its watched blocks and its ranges
// to the tracer.
//
// The program makes the system call kGuardCall(GuardCall, arguments…), which no kernel has. The tracer intercepts the
// call and returns a result. If there is no tracer, the call fails. The hooks then guard no block, and the runtime
// reports nothing to a tracer.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGuardVariable[] = "MSLEAKS_GUARD"; // the hooks offer blocks of at least this size to the tracer
inline constexpr char kTellVariable[] = "MSLEAKS_TELL";   // report watches, ranges, and blocks of "LEAST-MOST" bytes
inline constexpr long kGuardCall = 0x6d736c;

// The address range of guarded blocks; it is the same in every process. The tracer's filter stops system calls that get
// an address in this range.
inline constexpr uint64_t kGuardedBegin = uint64_t{0x6d} << 40, kGuardedBytes = uint64_t{1} << 40;

enum class GuardCall : uint64_t {
  Offer, // bytes: the program is about to allocate a block. Result 1: guard this block
  Born,  // address, bytes, bytes that have content: from now on the block's pages cannot be accessed
  Moved, // old address, new address, bytes: bytes that were touched in the old block count as touched in the new block
  Gone,  // address: the block was freed, and other blocks may get its pages
  Left,  // address: the block stays on its pages, but is no longer guarded

  Listen,  // asks whether the tracer wants watches and ranges. Result 1: yes
  Made,    // address, bytes: a block was allocated whose size is in the range of kTellVariable. Result 1: the tracer
           // watches it
  Watch,   // address, bytes, name (0: none): the tracer looks for writes to these bytes
  Unwatch, // address: the tracer no longer looks for writes to this block
  RangeBegins, // text (0: none): a range of this thread begins
  RangeEnds,
  Step, // number of the step that begins

  Refused, // bytes: the block of an offer with result 1 could not be guarded, so nobody sees who touches it
};

} // namespace msleaks::abi
