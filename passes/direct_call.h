// Lets a gate call the hook of its callee directly, with the site as one more argument (msleaks/abi/direct_calls.h).
#pragma once

#include "gate_shape.h"

namespace llvm {
class Function;
class GlobalVariable;
} // namespace llvm

namespace msleaks::passes {

// Returns the declaration of the constant that describes the hook of a callee: { hook, with_site }. Returns null if
// calls of this shape cannot go to a hook directly. The callee must be a function of direct_calls.def that the module
// only declares, and the gate must need no operands beside the arguments.
llvm::GlobalVariable *directCallOf(const GateShape &shape);

} // namespace msleaks::passes
