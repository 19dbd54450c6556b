// Defines a hook together with its direct entry, which takes the site of the call as one more argument
// (msleaks/abi/direct_calls.h).
#pragma once

#include "host/inline_hook.h"

#include "msleaks/abi/direct_calls.h"
#include "msleaks/hook.h"

// Whether a site is the number of a row of a unit, as a gate passes it. Otherwise it is 0, or the number of a caller or
// of a path.
constexpr bool isRowOfUnit(uint32_t site) noexcept {
  return site != 0 && (site & (msleaks::abi::kCallerSite | msleaks::abi::kPathSite)) == 0;
}

// The compiler knows the names of these functions and their types. So the hooks have other names in C++.
#define MSL_DECLARE_EXPORTED(result, symbol, ...)                                                                      \
  extern "C" [[gnu::visibility("default")]] result hook##symbol(MSL_HOOK_EACH(MSL_HOOK_DECLARE, __VA_ARGS__)) __asm__( \
      #symbol);

// `body` is called with the parameters and the site of a direct call, or 0. It must be inlined, because it reads the
// frame of the caller.
#define MSL_DEFINE_EXPORTED(result, body, symbol, ...)                                                                 \
  result hook##symbol(MSL_HOOK_EACH(MSL_HOOK_DECLARE, __VA_ARGS__)) {                                                  \
    return body(MSL_HOOK_EACH(MSL_HOOK_NAME, __VA_ARGS__), 0);                                                         \
  }

// The first function is the hook under a second name. So the library exports the address of its own hook, also where
// another definition of the symbol comes first.
#define MSL_DEFINE_DIRECT(result, body, symbol, ...)                                                                   \
  extern "C" [[gnu::visibility("default"), gnu::alias(#symbol)]] result __msl_hook_##symbol(                           \
      MSL_HOOK_EACH(MSL_HOOK_DECLARE, __VA_ARGS__));                                                                   \
  result __msl_direct_##symbol(MSL_HOOK_EACH(MSL_HOOK_DECLARE, __VA_ARGS__), uint32_t site) {                          \
    if (!isRowOfUnit(site))                                                                                            \
      __builtin_unreachable();                                                                                         \
    return body(MSL_HOOK_EACH(MSL_HOOK_NAME, __VA_ARGS__), site);                                                      \
  }
