// A gate (passes/gate.h) whose callee is a hook calls the hook directly: it passes the site as one more argument, and
// calls no callback. So such a call costs no more than a call from uninstrumented code.
//
// The hooks' library exports a constant `__msl_direct_<symbol>` for each row of direct_calls.def. The gate refers to
// the constant by a weak symbol. It compares `hook` with the address of its callee. The two differ if the program or
// one of its libraries defines the function itself. Then the gate calls the callbacks, as it does without this
// constant.
#pragma once

#include <cstdint>

namespace msleaks::abi {

template <class Result, class... Parameters> struct DirectCall {
  Result (*hook)(Parameters...); // the exported function that interposes the symbol
  Result (*with_site)(Parameters..., uint32_t site);
};

} // namespace msleaks::abi

extern "C" {
#define MSL_DIRECT(symbol, result, ...)                                                                                \
  [[gnu::visibility("default")]] extern const msleaks::abi::DirectCall<result, __VA_ARGS__> __msl_direct_##symbol;
#include "msleaks/abi/direct_calls.def"
}
