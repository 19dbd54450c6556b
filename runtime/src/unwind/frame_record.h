// Code without unwind tables whose functions keep a frame pointer.
#pragma once

#include "unwind/walk.h"

#include "loaded_object.h"

namespace msleaks::runtime::unwind {

// The rule of a frame's address, which no table tells, once it is proven; else Unknown. It holds for that address from
// then on, whatever stands on the stack: one instruction belongs to one function.
Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept;

// The instruction that ends before `address` may be a call. Asks the kernel for the bytes.
bool mayFollowCall(uint64_t address) noexcept;

// The same where `address` is of a frame in `object`, which stays as long as the frame: read without a system call.
bool mayFollowCall(const LoadedObject &object, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
