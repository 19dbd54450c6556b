// What the hooks in a program and its tracer (`msleaks verify`) say to each other about guarded blocks: host blocks on
// pages of their own that nobody can touch unseen.
//
// The hooks make a system call that no kernel has, kGuardCall(GuardCall, arguments…), and the tracer answers in place
// of the kernel. Without a tracer the answer is an error, and nothing is guarded.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kGuardVariable[] = "MSLEAKS_GUARD"; // blocks of so many bytes and more are offered
inline constexpr long kGuardCall = 0x6d736c;

// Where guarded blocks lie, in every process: the tracer has the kernel stop calls that are given such an address.
inline constexpr uint64_t kGuardedBegin = uint64_t{0x6d} << 40, kGuardedBytes = uint64_t{1} << 40;

enum class GuardCall : uint64_t {
  Offer, // bytes: a block is about to be made. 1: it shall be guarded
  Born,  // address, bytes, bytes that have content: from here on nothing can touch the block's pages
  Moved, // old address, new address, bytes: what was touched of the old block counts as touched of the new one
  Gone,  // address: the block's pages are nobody's any more
  Left,  // address: they go on, but nobody watches them any more
};

} // namespace msleaks::abi
