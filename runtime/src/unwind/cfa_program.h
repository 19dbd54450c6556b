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

// Where the caller's value of a register is stored.
struct Place {
  enum Kind : uint8_t { Kept, AtCfa, AtBase, Undefined, Elsewhere } kind = Kept;
  int64_t offset = 0;
};

struct Row {
  enum Kind : uint8_t { Register, Word, Plt, Elsewhere } kind = Register; // the kind of the CFA's rule
  uint64_t base = machine::kStackPointer;
  int64_t offset = 0;
  Place frame, link;
};

// The state of a program after it has run up to an address. A later run to a higher address of the same function
// continues from there. A constructor may contain thousands of calls, and its program as many instructions.
struct Run {
  static constexpr unsigned kRemembered = 4; // compilers nest at most two states
  uint64_t function = 0;                     // where the function begins; 0 = there was no run
  uint64_t address = 0, location = 0;
  Row row, initial, stack[kRemembered];
  unsigned remembered = 0;
  TableCursor rest{0, 0}; // the instructions that have not run
};

// Returns the rule for `address` in the function that begins at `begin`. `program` contains the instructions of this
// function's FDE. `run` is the last run, or a new one.
Rule runProgram(const Cie &cie, TableCursor program, uint64_t begin, uint64_t address, Run &run) noexcept;

} // namespace msleaks::runtime::unwind
