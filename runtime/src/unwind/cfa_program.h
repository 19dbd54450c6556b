// The instructions of .eh_frame (DW_CFA_*), run up to one address.
#pragma once

#include "unwind/machine.h"
#include "unwind/rule.h"
#include "unwind/table_cursor.h"

namespace msleaks::runtime::unwind {

// The values that the records of several functions share.
struct Cie {
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint8_t encoding = kAbsolute;
  bool is_signal = false, has_augmentation = false;
  TableCursor program{0, 0};
};

// `program` is that of the function which begins at `begin`.
Rule runProgram(const Cie &cie, TableCursor program, uint64_t begin, uint64_t address) noexcept;

} // namespace msleaks::runtime::unwind
