// Gets the text of instructions from objdump, of binutils or of LLVM, as LNT does.
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
  std::string text; // the text that objdump writes after the address
};

// Returns the objdump to call. If `wanted` is not empty, a missing program `wanted` is an error. Otherwise the program
// is CMAKE_OBJDUMP of the environment, as in LNT, or the first objdump or llvm-objdump on PATH. Empty: there is none.
Result<std::string> findObjdump(const std::string &wanted);

// Joins near ranges, so that the result has few ranges that contain all of the given ones. The given ranges are in
// order. Each range is one run of objdump, which costs more than the code between two near ranges.
std::vector<AddressRange> joined(const std::vector<AddressRange> &);

// Returns the instructions of the image in these ranges, by address. Addresses are addresses of the file. Empty:
// objdump shows nothing.
std::vector<Instruction> disassemble(const std::string &objdump, const std::string &image,
                                     const std::vector<AddressRange> &ranges);

// Parses one line of objdump's output. Returns false if the line is no instruction.
bool parseInstruction(std::string_view line, Instruction &);

} // namespace msleaks::analysis::profiles
