// Reads the mapped unwind tables of an image (.eh_frame_hdr and .eh_frame). The tables may be damaged, so every read is
// checked.
#pragma once

#include "unwind/cfa_program.h"
#include "unwind/rule.h"

namespace msleaks::runtime {
struct LoadedObject;
}

namespace msleaks::runtime::unwind {

// The mapped bytes [begin, end) that may be read, with the .eh_frame_hdr at `header`.
struct Tables {
  uint64_t begin, end;
  uint64_t header;
};

// Finds the segment that contains the object's unwind tables. A lookup reads no byte outside of this segment. Returns
// false if the object has no tables, or if its headers are not known.
bool findTables(const LoadedObject &object, Tables &tables) noexcept;

// Returns the rule for the instruction at `address`. For a return address, pass the address - 1, which is in the call.
// If the tables do not cover the address, the result is NoTable.
Rule findRule(const Tables &tables, uint64_t address) noexcept;
// The same, but goes on from the last run if that was to a lower address in the same function.
Rule findRuleAfter(Run &last, const Tables &tables, uint64_t address) noexcept;

struct FunctionRange {
  uint64_t begin = 0, bytes = 0;
  bool holds(uint64_t address) const noexcept { return address - begin < bytes; }
};
// Returns the function that contains `address`. The result is empty if the tables do not cover it.
FunctionRange findFunction(const Tables &tables, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
