// Finds the dimensions of a kernel launch after the ABI has split its structs into registers.
#pragma once

#include "msleaks/abi/symbols.h"

#include "llvm/IR/IRBuilder.h"

namespace msleaks::passes {

// Whether the operands of a RANGE, BLOCKS or SIZES shape exist. A DIM3 shape that is not recognised is allowed (zeros).
bool shapeFits(const llvm::CallBase &call, const abi::Symbol &symbol);

// A dim3 as the callbacks take it.
struct Dimensions {
  llvm::Value *xy; // x | y << 32
  llvm::Value *z;
};
struct LaunchDimensions {
  Dimensions grid, block;
};

// Emits the code that reads grid and block. Unknown dimensions are zeros.
LaunchDimensions emitDimensions(llvm::IRBuilder<> &builder, const llvm::CallBase &call, const abi::Shape &shape);

// The operand that is `index` after the shape's first, for RANGE (dimensions, offset, global, local) and SIZES.
llvm::Value *rangeOperand(const llvm::CallBase &call, const abi::Shape &shape, int index);

} // namespace msleaks::passes
