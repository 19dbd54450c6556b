// The protocol between the hooks and the runtime in a program and its tracer (`msleaks verify`). It is about guarded
// blocks: host blocks on pages of their own, where the tracer sees each touch. Or it is about watched blocks
// (msl_watch), which stay where they are, and the ranges of the program.
//
// The program makes a system call that no kernel has, kGuardCall(GuardCall, arguments…), and the tracer answers in
// place of the kernel. Without a tracer the answer is an error, and nothing is guarded or told.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGuardVariable[] = "MSLEAKS_GUARD"; // blocks of so many bytes and more are offered
inline constexpr char kTellVariable[] = "MSLEAKS_TELL"; // blocks of "LEAST-MOST" bytes, and all watches and ranges
inline constexpr long kGuardCall = 0x6d736c;

// The addresses of guarded blocks, in every process. The tracer's filter stops system calls that get such an address.
inline constexpr uint64_t kGuardedBegin = uint64_t{0x6d} << 40, kGuardedBytes = uint64_t{1} << 40;

enum class GuardCall : uint64_t {
  Offer, // bytes: a block is about to be made. Answer 1: guard it
  Born,  // address, bytes, bytes that have content: from here on nothing can touch the block's pages
  Moved, // old address, new address, bytes: touched bytes of the old block count as touched in the new one
  Gone,  // address: the block's pages are free again
  Left,  // address: the pages stay, but are no longer watched

  Listen,      // asks whether to tell watches and ranges. Answer 1: yes
  Made,        // address, bytes: a block of a told size. Answer 1: it is watched
  Watch,       // address, bytes, name (0: none): the tracer looks for writes to it
  Unwatch,     // address
  RangeBegins, // text (0: none), of this thread
  RangeEnds,
  Step, // number
};

} // namespace msleaks::abi
