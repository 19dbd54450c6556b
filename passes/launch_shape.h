// Where the dimensions of a kernel launch are, after the ABI has taken its structs apart.
#pragma once

#include "msleaks/abi/symbols.h"

#include "llvm/IR/IRBuilder.h"

namespace msleaks::passes {

// The operands of a RANGE, BLOCKS or SIZES shape are there; a DIM3 shape that is not recognised is all right (zeros).
bool shapeFits(const llvm::CallBase &call, const abi::Symbol &symbol);

// A dim3 as the callbacks take it.
struct Dimensions {
  llvm::Value *xy; // x | y << 32
  llvm::Value *z;
};
struct LaunchDimensions {
  Dimensions grid, block;
};

// Emits what is needed to read grid and block. Zeros for what is not known.
LaunchDimensions emitDimensions(llvm::IRBuilder<> &builder, const llvm::CallBase &call, const abi::Shape &shape);

// The operand that is `index` after the shape's first, for RANGE (dimensions, offset, global, local) and SIZES.
llvm::Value *rangeOperand(const llvm::CallBase &call, const abi::Shape &shape, int index);

} // namespace msleaks::passes
