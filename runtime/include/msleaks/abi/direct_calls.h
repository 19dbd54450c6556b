// Instrumented code calls an allocator through a gate (passes/gate.h). If the allocator is a hook, the gate passes the
// site to the hook as one more argument, and calls no callback. So an instrumented call costs no more than a call from
// uninstrumented code.
//
// The hooks' library exports two functions for each row of direct_calls.def. The gate refers to both by weak symbols.
//
//   __msl_hook_<symbol>     the hook itself, under a name that nobody else defines
//   __msl_direct_<symbol>   the same hook, with the site as last parameter
//
// The gate compares the address of its callee with the address of __msl_hook_<symbol>. They differ if the program or
// one of its libraries defines the function itself, or if there are no hooks. If they differ, the gate calls the
// callbacks.
#pragma once

#include <cstdint>

extern "C" {
#define MSL_DIRECT(symbol, result, ...)                                                                                \
  [[gnu::visibility("default")]] result __msl_hook_##symbol(__VA_ARGS__);                                              \
  [[gnu::visibility("default")]] result __msl_direct_##symbol(__VA_ARGS__, uint32_t site);
#include "msleaks/abi/direct_calls.def"

// Looks up the real functions behind the direct entries, which do not test whether these are known. The runtime calls
// this function before it arms a unit. Returns 0 if the functions are not known yet: then no unit may be armed.
[[gnu::weak, gnu::visibility("default")]] uint32_t __msl_direct_ready() noexcept;
}
