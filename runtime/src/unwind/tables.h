// Reads the unwind tables of an image (.eh_frame_hdr and .eh_frame, as they are mapped) without trusting them.
#pragma once

#include "unwind/rule.h"

namespace msleaks::runtime::unwind {

// The mapped bytes [begin, end) that may be read, with the .eh_frame_hdr at `header`.
struct Tables {
  uint64_t begin, end;
  uint64_t header;
};

// The rule for the instruction at `address`: for a return address, the byte before it, which belongs to the call.
// NoTable: they are tables of other code.
Rule findRule(const Tables &tables, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
