// Chooses the result that a hook returns if no loaded library has the real function.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbol.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace msleaks {
namespace [[gnu::visibility("hidden")]] hook {

struct Failure {
  const char *library;
  int64_t status;
};
inline constexpr Failure kFailures[] = {
#define MSL_FAILURE(library, status, meaning) {library, status},
#include "msleaks/abi/failures.def"
};

// Whether `name` is the first of the names in `library`. `library` is one name ("libOpenCL") or several
// ("libacl_rt|libascendcl").
constexpr bool isOfLibrary(const char *library, const char *name) {
  for (; *name != 0 && *library == *name; ++name)
    ++library;
  return *name == 0 && (*library == 0 || *library == '|');
}

// Returns the status by which this library reports an unsupported operation. If failures.def has no row for the
// library, returns -1, by which most functions of the C library report a failure.
constexpr int64_t failureOf(const char *library) {
  for (const Failure &failure : kFailures)
    if (isOfLibrary(library, failure.library))
      return failure.status;
  return -1;
}

template <class Last> void storeFailure(const char *library, Last last) {
  using Status = std::remove_pointer_t<Last>;
  if constexpr (std::is_pointer_v<Last> && (std::is_same_v<Status, int32_t> || std::is_enum_v<Status>))
    if (last != nullptr && isOfLibrary(library, "libOpenCL"))
      *last = static_cast<Status>(failureOf(library));
}

// Returns the result of a call whose real function is missing. A pointer result is null, or MAP_FAILED for mmap and
// mremap. If an OpenCL function returns a pointer and its last parameter points to a status, the failure is also stored
// there.
template <class OfRow, class Result, class... Parameters>
[[gnu::cold]] Result missing(const Function &function, Parameters... parameters) {
  if constexpr (std::is_pointer_v<Result>) {
    constexpr size_t kCount = sizeof...(parameters);
    if constexpr (kCount != 0)
      storeFailure(function.library, std::get<kCount - 1>(std::tuple<Parameters...>(parameters...)));
    return reinterpret_cast<Result>(OfRow::kRow.family == abi::Family::Mmap ? UINTPTR_MAX : 0);
  } else if constexpr (!std::is_void_v<Result>) {
    return static_cast<Result>(failureOf(function.library));
  }
}

} // namespace hook
} // namespace msleaks
