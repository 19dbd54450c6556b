// Code without unwind tables whose functions keep a frame pointer.
#pragma once

#include "unwind/walk.h"

namespace msleaks::runtime::unwind {

// Returns the rule of a frame's address without a table, once it is proven; else Unknown. The rule then holds for that
// address, with any stack, since one instruction belongs to one function.
Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept;

} // namespace msleaks::runtime::unwind
