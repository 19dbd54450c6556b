// Code without unwind tables whose functions keep a frame pointer.
#pragma once

#include "unwind/walk.h"

namespace msleaks::runtime::unwind {

// The rule of a frame's address, which no table tells, once it is proven; else Unknown. It holds for that address from
// then on, whatever stands on the stack: one instruction belongs to one function.
Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept;

} // namespace msleaks::runtime::unwind
