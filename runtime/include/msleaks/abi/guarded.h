// What the hooks and the runtime in a program say to its tracer (`msleaks verify`), and it to them: of guarded blocks,
// host blocks on pages of their own that nobody can touch unseen; or of watched ones (msl_watch), which lie where they
// lie, and of the ranges that the program is in.
//
// They make a system call that no kernel has, kGuardCall(GuardCall, arguments…), and the tracer answers in place of
// the kernel. Without a tracer the answer is an error, and nothing is guarded or told.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGuardVariable[] = "MSLEAKS_GUARD"; // blocks of so many bytes and more are offered
inline constexpr char kTellVariable[] = "MSLEAKS_TELL"; // blocks of "LEAST-MOST" bytes, and all watches and ranges
inline constexpr long kGuardCall = 0x6d736c;

// Where guarded blocks lie, in every process: the tracer has the kernel stop calls that are given such an address.
inline constexpr uint64_t kGuardedBegin = uint64_t{0x6d} << 40, kGuardedBytes = uint64_t{1} << 40;

enum class GuardCall : uint64_t {
  Offer, // bytes: a block is about to be made. 1: it shall be guarded
  Born,  // address, bytes, bytes that have content: from here on nothing can touch the block's pages
  Moved, // old address, new address, bytes: what was touched of the old block counts as touched of the new one
  Gone,  // address: the block's pages are nobody's any more
  Left,  // address: they go on, but nobody watches them any more

  Listen,      // whether watches and ranges are to be told. 1: they are
  Made,        // address, bytes: a block of a told size. 1: it is watched
  Watch,       // address, bytes, name (0: none): what changes it is asked
  Unwatch,     // address
  RangeBegins, // text (0: none), of this thread
  RangeEnds,
  Step, // number
};

} // namespace msleaks::abi
