// Reads the dimensions of a kernel launch from the operands of a call. In IR, a dim3 struct may be several operands.
#pragma once

#include "msleaks/abi/symbol.h"

#include "llvm/IR/IRBuilder.h"

namespace msleaks::passes {

// Whether the call has the operands that the shape in its row names. A dim3 in an unknown form is accepted.
bool shapeFits(const llvm::CallBase &call, const abi::Symbol &symbol);

// A dim3 in the form of the callbacks' parameters.
struct Dimensions {
  llvm::Value *xy; // x | y << 32
  llvm::Value *z;
};
struct LaunchDimensions {
  Dimensions grid, block;
};

// Emits the code that reads the dimensions of grid and block. Unknown dimensions are zeros.
LaunchDimensions emitDimensions(llvm::IRBuilder<> &builder, const llvm::CallBase &call, const abi::Shape &shape);

// Returns the operand that is `index` positions behind the shape's first operand, or null. The operands of the shape
// Range are: dimensions, offset, global sizes, local sizes.
llvm::Value *rangeOperand(const llvm::CallBase &call, const abi::Shape &shape, int index);

} // namespace msleaks::passes
