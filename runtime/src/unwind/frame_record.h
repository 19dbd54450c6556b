// Finds rules for code without unwind tables, if its functions use a frame pointer.
#pragma once

#include "unwind/walk.h"

namespace msleaks::runtime::unwind {

// Returns the rule for the address of a frame without a table. If the rule cannot be proven, its kind is Unknown. A
// proven rule is valid for this address with any stack.
Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept;

} // namespace msleaks::runtime::unwind
