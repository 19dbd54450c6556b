// Finds the effects of a function on handles: those in the table of functions (functions.h).
#pragma once

#include "msleaks/abi/handle_call.h"
#include "msleaks/abi/symbols.h"

#include <array>
#include <string_view>

namespace msleaks::abi {
namespace detail {

constexpr auto allHandleCalls() {
  std::array<HandleCall, countEffects<Effect::On::Handle>()> calls{};
  size_t count = 0;
  forEachEffect([&](std::string_view name, auto, Family family, const Effect &effect) {
    if (effect.on != Effect::On::Handle)
      return;
    HandleCall &call = calls[count++] = effect.handle;
    call.name = name;
    call.family = family;
  });
  return calls;
}
} // namespace detail

inline constexpr auto kHandleCalls = detail::allHandleCalls();

// All effects of one function on handles.
struct HandleCalls {
  static constexpr unsigned kMost = 4;
  HandleCall calls[kMost];
  unsigned count = 0;

  // Whether the call returns a handle. If it does not, an integer result of 0 means success.
  constexpr bool returnsHandle() const {
    for (unsigned i = 0; i < count; ++i)
      if (calls[i].result == HandleResult::Return)
        return true;
    return false;
  }
};

constexpr HandleCalls handleCallsOf(std::string_view name) {
  HandleCalls found{};
  for (const HandleCall &call : kHandleCalls)
    if (call.name == name)
      found.calls[found.count++] = call;
  return found;
}

} // namespace msleaks::abi
