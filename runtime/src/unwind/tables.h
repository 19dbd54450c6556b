// Reads the mapped unwind tables of an image (.eh_frame_hdr and .eh_frame). The tables may be damaged, so every read is
// checked.
#pragma once

#include "unwind/cfa_program.h"
#include "unwind/rule.h"

namespace msleaks::runtime::unwind {

// The mapped bytes [begin, end) that may be read, with the .eh_frame_hdr at `header`.
struct Tables {
  uint64_t begin, end;
  uint64_t header;
};

// Returns the rule for the instruction at `address`. For a return address, pass the address - 1, which is in the call.
// If the tables do not cover the address, the result is NoTable.
Rule findRule(const Tables &tables, uint64_t address) noexcept;
// The same, but goes on from the last run if that was to a lower address in the same function.
Rule findRuleAfter(Run &last, const Tables &tables, uint64_t address) noexcept;

// Returns the address at which the function that contains `address` begins, or 0 if the tables do not cover it.
uint64_t findBegin(const Tables &tables, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
