// Changes SPIR-V for the translators of LLVM 14 and 15, which fail at an OpConstantNull of a scalar type. LLVM 22
// writes this instruction for 0.
#pragma once

#include <cstdint>
#include <vector>

namespace msleaks::driver {

// Returns the module with the constant 0 instead of each OpConstantNull of a scalar type. The result is empty if the
// module is not SPIR-V in this machine's byte order, or is incomplete.
std::vector<uint32_t> withoutScalarNulls(const std::vector<uint32_t> &module);

} // namespace msleaks::driver
