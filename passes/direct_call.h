// Lets a gate call the hook of its callee directly, with the site as one more argument (msleaks/abi/direct_calls.h).
#pragma once

#include "gate_shape.h"

#include <optional>

namespace msleaks::passes {

// The functions of the hooks' library for one callee.
struct DirectCall {
  llvm::Value *hook;      // address of the hook: if the callee has the same address, the callee is the hook
  llvm::Value *with_site; // the hook with one more parameter, the site
};

// Declares the functions for the calls of this shape. Returns nothing if the calls cannot use a hook of
// direct_calls.def.
std::optional<DirectCall> directCallOf(const GateShape &shape);

} // namespace msleaks::passes
