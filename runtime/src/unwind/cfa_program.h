// Runs the instructions of .eh_frame (DW_CFA_*) up to one address of code.
#pragma once

#include "unwind/machine.h"
#include "unwind/rule.h"
#include "unwind/table_cursor.h"

namespace msleaks::runtime::unwind {

// A CIE (common information entry): the values that the FDEs of several functions share.
struct Cie {
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint8_t encoding = kAbsolute;
  bool is_signal = false, has_augmentation = false;
  TableCursor program{0, 0};
};

// Returns the rule for `address` in the function that begins at `begin`. `program` contains the instructions of this
// function's FDE.
Rule runProgram(const Cie &cie, TableCursor program, uint64_t begin, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
