// The types of OpenCL's functions, and how the hooks call them. They are declared here, so the build needs no header of
// OpenCL.
#pragma once

#include "core/rows.h"

#include <cstddef>
#include <cstdint>

namespace msleaks::hooks::cl {

typedef void *Context, *Device, *Queue, *Mem, *Kernel, *Program, *Event, *Sampler, *Notify;
using Events = const void *;
using Bits = uint64_t;
using Properties = const uint64_t *;
using Sizes = const uint64_t *;
using Text = const char *;

using Info = int(const void *, unsigned, size_t, void *, size_t *);
using Read = int(const void *, const void *, unsigned, size_t, size_t, void *, unsigned, Events, Event *);
using SetArgument = int(Kernel, unsigned, size_t, const void *);
using Launch = int(Queue, Kernel, unsigned, const void *, Sizes, Sizes, unsigned, Events, Event *);

inline constexpr int kDone = 0, kInvalidValue = -30;
inline constexpr unsigned kBlocking = 1, kFunctionName = 0x1190;

// Calls a function of the driver. Returns zeros if there is no such function.
template <class Signature, class... Arguments> auto call(hook::Function &function, Arguments... arguments) {
  auto *const real = reinterpret_cast<Signature *>(hook::realOf(function));
  using Result = decltype(real(arguments...));
  return real != nullptr ? real(arguments...) : Result{};
}

// `function`: for example clGetKernelInfo. False: the driver does not know this.
inline bool infoOf(hook::Function &function, const void *of, unsigned what, size_t bytes, void *to) {
  auto *const real = reinterpret_cast<Info *>(hook::realOf(function));
  return real != nullptr && real(of, what, bytes, to, nullptr) == kDone;
}

template <class OfRow, class Real, class... Parameters> auto asRow(Real real, void *caller, Parameters... parameters) {
  if constexpr (abi::isRecorded(OfRow::kRow.verb))
    return hook::callRecorded<OfRow>(real, caller, parameters...);
  else
    return hook::callNoted<OfRow>(real, caller, parameters...);
}

} // namespace msleaks::hooks::cl
