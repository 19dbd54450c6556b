// SPIR-V as the translators of LLVM 14 and 15 take it. They stop at an OpConstantNull of a scalar type, which LLVM 22
// writes for 0.
#pragma once

#include <cstdint>
#include <vector>

namespace msleaks::driver {

// The module with the constant 0 in place of each such null. Empty: it is no SPIR-V in this machine's byte order, or it
// is cut.
std::vector<uint32_t> withoutScalarNulls(const std::vector<uint32_t> &module);

} // namespace msleaks::driver
