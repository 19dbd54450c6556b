// Text of instructions, from objdump: of binutils or of LLVM, as LNT has it too.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

struct AddressRange {
  uint64_t begin = 0, end = 0;
  bool operator==(const AddressRange &) const = default;
};

struct Instruction {
  uint64_t address = 0;
  std::string text; // as objdump writes it behind the address
};

// The program to call: `wanted` if it is not empty, which must then be there. Otherwise CMAKE_OBJDUMP of the
// environment, as for LNT, or the first of objdump and llvm-objdump that PATH has. Empty: there is none.
Result<std::string> findObjdump(const std::string &wanted);

// Few ranges that hold all of the given ones, which are in order. Each is a run of objdump, which costs more than the
// code between two near ranges.
std::vector<AddressRange> joined(const std::vector<AddressRange> &);

// The instructions of one image in these ranges, by address. Addresses are those of the file. Empty where objdump can
// tell nothing.
std::vector<Instruction> disassemble(const std::string &objdump, const std::string &image,
                                     const std::vector<AddressRange> &ranges);

// One line of objdump's output, as far as it is an instruction.
bool parseInstruction(std::string_view line, Instruction &);

} // namespace msleaks::analysis::profiles
