// Lets a gate call the hook of its callee directly, with the site as one more argument (msleaks/abi/direct_calls.h).
#pragma once

#include "gate_shape.h"

#include <optional>

namespace msleaks::passes {

// The functions of the hooks' library for one callee.
struct DirectCall {
  llvm::Value *hook;      // the callee has this address if the callee is the hook
  llvm::Value *with_site; // the hook with one more parameter, the site
};

// Declares the functions for the calls of this shape. Returns nothing if no direct call is possible. The callee must be
// a function of direct_calls.def that the module only declares. The gate must need no operands beside the arguments.
std::optional<DirectCall> directCallOf(const GateShape &shape);

} // namespace msleaks::passes
