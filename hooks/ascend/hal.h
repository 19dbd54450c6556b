// Defines hooks of Ascend's driver. If no library defines a function any more, the driver still has it under a second
// name, which tools use: with the ending "Inner".
#pragma once

#include "ascend/forms.h"

namespace msleaks::hooks::hal {

// The two names of one function: the name that programs know, and the driver's second name.
struct Names {
  hook::Function known, inner;
};

// Returns the next definition of the known name. If there is none, returns the function with the second name, and
// stores it as the real function.
inline void *realOf(hook::Function &function, Names &names, const void *caller) {
  if (void *const kept = __atomic_load_n(&function.real, __ATOMIC_ACQUIRE))
    return kept;
  if (void *const known = hook::realOf(names.known, caller))
    return known;
  void *const inner = hook::realOf(names.inner, caller);
  if (inner == nullptr)
    return hook::realOf(function, caller); // writes a note that there is none
  __atomic_store_n(&function.real, inner, __ATOMIC_RELEASE);
  return inner;
}

template <class Body, Names &kNames, class... Parameters>
int callDriver(hook::Function &function, void *caller, Parameters... parameters) {
  auto *const real = reinterpret_cast<int (*)(Parameters...)>(realOf(function, kNames, caller));
  if (real == nullptr)
    return hook::missing<hook::NoRow, int>(function, parameters...);
  return hook::own_library.state == hook::kAccepted ? Body{}(real, caller, parameters...) : real(parameters...);
}

} // namespace msleaks::hooks::hal

#define MSL_HAL_HOOK(body, name, parameters)                                                                           \
  static ::msleaks::hooks::hal::Names names_of_##name = {{"libascend_hal", #name, nullptr, nullptr},                   \
                                                         {"libascend_hal", #name "Inner", nullptr, nullptr}};          \
  MSL_HOOK_CALLS((::msleaks::hooks::hal::callDriver<decltype(body), names_of_##name>), libascend_hal, int, name,       \
                 parameters)
