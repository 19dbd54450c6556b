// Reads the mapped unwind tables of an image (.eh_frame_hdr and .eh_frame). The tables may be damaged, so every read is
// checked.
#pragma once

#include "unwind/rule.h"

namespace msleaks::runtime::unwind {

// The mapped bytes [begin, end) that may be read, with the .eh_frame_hdr at `header`.
struct Tables {
  uint64_t begin, end;
  uint64_t header;
};

// Returns the rule for the instruction at `address`. For a return address, pass the byte before it, which belongs to
// the call. NoTable: the tables do not cover the address.
Rule findRule(const Tables &tables, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
