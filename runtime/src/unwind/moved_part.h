// Finds the code of a function that the compiler has moved away from the rest of it. GCC calls such a part NAME.cold.
// It has unwind tables of its own, but often no symbol.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind {

// Returns the address of the part that belongs to the function at `function`, or 0 if none is found. Reads the whole
// function.
uint64_t movedPartOf(uint64_t function) noexcept;

} // namespace msleaks::runtime::unwind
