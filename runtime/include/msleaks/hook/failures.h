// What a hook returns where there is no function to call.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbols.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace msleaks {
namespace [[gnu::visibility("hidden")]] hook {

// Null or -1; mmap's pointer is -1.
template <class OfRow, class Result, class... Parameters>
[[gnu::cold]] Result missing(const Function &, Parameters...) {
  if constexpr (std::is_pointer_v<Result>)
    return reinterpret_cast<Result>(OfRow::kRow.family == abi::Family::Mmap ? UINTPTR_MAX : 0);
  else if constexpr (!std::is_void_v<Result>)
    return static_cast<Result>(-1);
}

} // namespace hook
} // namespace msleaks
