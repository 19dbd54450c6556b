// Finds the source line of an instruction of Python code.
#pragma once

#include "layout.h"

#include <cstdint>

namespace msleaks::runtime::python {

inline constexpr int32_t kNoLine = -1;

// The table of lines of a code object, as CPython stores it.
struct LineTable {
  const uint8_t *bytes;
  uint64_t size;
  int32_t first_line;
};

// Returns the line of the instruction at `offset` bytes in the code, or kNoLine: the table has no line for it, or is
// damaged.
int32_t lineAt(const LineTable &, uint32_t minor, uint64_t offset) noexcept;

} // namespace msleaks::runtime::python
