// Lets a gate call the hook of its callee directly, with the site as one more argument (msleaks/abi/direct_calls.h).
#pragma once

#include "gate_shape.h"

namespace llvm {
class Function;
} // namespace llvm

namespace msleaks::passes {

// The functions of the hooks' library for one callee. Both are null if a call cannot go to a hook directly.
struct DirectCall {
  llvm::Function *hook;      // the callee has this address if the callee is the hook
  llvm::Function *with_site; // the hook with one more parameter, the site
};

// Declares the functions for the calls of this shape. A direct call is possible if the callee is a function of
// direct_calls.def that the module only declares. The gate must need no operands beside the arguments.
DirectCall directCallOf(const GateShape &shape);

} // namespace msleaks::passes
