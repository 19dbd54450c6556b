// Finds rules for code without unwind tables, if its functions use a frame pointer.
#pragma once

#include "unwind/walk.h"

namespace msleaks::runtime::unwind {

// Returns the rule for the address of a frame that has no table, if the rule can be proven, else a rule of kind
// Unknown. A proven rule is valid for this address with any stack, since an instruction belongs to one function only.
Rule ruleOfFrameRecord(const Frame &frame, Stack &stack) noexcept;

} // namespace msleaks::runtime::unwind
