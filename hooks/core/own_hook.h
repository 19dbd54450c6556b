// Defines a hook of msleaks' own that does more than its rows say. The body follows the macro. It may call MSL_AS_ROWS
// or MSL_REAL.
//
// A file with such a hook does not include the C library's header that declares the hooked function. The exception
// specification there differs between versions of the C library.
#pragma once

#include "msleaks/hook.h"

#define MSL_OWN_HOOK(library, result, name, parameters)                                                                \
  extern "C" [[gnu::visibility("hidden")]] result msl_hooked_##name parameters;                                        \
  [[gnu::used, gnu::section("msl_hooks")]] static ::msleaks::hook::Function msl_hook_of_##name = {                     \
      #library, #name, reinterpret_cast<void *>(&msl_hooked_##name), nullptr};                                         \
  extern "C" [[gnu::visibility("default"), gnu::alias("msl_hooked_" #name)]] result name parameters;                   \
  extern "C" result msl_hooked_##name parameters

// Calls the function, and records the call as its rows say.
#define MSL_AS_ROWS(result, name, ...)                                                                                 \
  ::msleaks::hook::callHooked<::msleaks::hook::Known<#name>, result>(                                                  \
      msl_hook_of_##name, __builtin_return_address(0) __VA_OPT__(, ) __VA_ARGS__)

// Only calls the real function.
#define MSL_REAL(result, name, ...)                                                                                    \
  ::msleaks::hooks::callReal<::msleaks::hook::Known<#name>, result>(                                                   \
      msl_hook_of_##name, __builtin_return_address(0) __VA_OPT__(, ) __VA_ARGS__)

namespace msleaks::hooks {

template <class OfRow, class Result, class... Parameters>
Result callReal(hook::Function &function, const void *caller, Parameters... parameters) {
  auto *const real = reinterpret_cast<Result (*)(Parameters...)>(hook::realOf(function, caller));
  return real != nullptr ? real(parameters...) : hook::missing<OfRow, Result>(function, parameters...);
}

} // namespace msleaks::hooks
