// The protocol between `msleaks verify`, which traces a program, and the hooks and the runtime in that program. It has
// two uses. Guarded blocks are host blocks on pages of their own, where the tracer sees each touch. Watched blocks
// (msl_watch) keep their addresses; the program reports them and its ranges.
//
// The program makes a system call that no kernel has, kGuardCall(GuardCall, arguments…). The tracer returns a result in
// place of the kernel. Without a tracer the result is an error. Then the hooks guard no block, and the runtime reports
// nothing.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGuardVariable[] = "MSLEAKS_GUARD"; // the least size of blocks that are offered
inline constexpr char kTellVariable[] = "MSLEAKS_TELL";   // asks for blocks of "LEAST-MOST" bytes, watches and ranges
inline constexpr long kGuardCall = 0x6d736c;

// The address range of guarded blocks; it is the same in every process. The tracer's filter stops system calls that get
// an address in this range.
inline constexpr uint64_t kGuardedBegin = uint64_t{0x6d} << 40, kGuardedBytes = uint64_t{1} << 40;

enum class GuardCall : uint64_t {
  Offer, // bytes: a block is about to be allocated. Result 1: guard it
  Born,  // address, bytes, bytes that have content: from here on the block's pages cannot be accessed
  Moved, // old address, new address, bytes: touched bytes of the old block count as touched in the new one
  Gone,  // address: the block was freed, and other blocks may get its pages
  Left,  // address: the pages stay, but are no longer watched

  Listen,      // asks whether to report watches and ranges. Result 1: yes
  Made,        // address, bytes: a block of a wanted size. Result 1: it is watched
  Watch,       // address, bytes, name (0: none): the tracer looks for writes to these bytes
  Unwatch,     // address
  RangeBegins, // text (0: none): a range of this thread
  RangeEnds,
  Step, // number
};

} // namespace msleaks::abi
