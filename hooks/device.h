// What the runtime asks of a driver (hook::Device), by functions that no hook stands in front of.
#pragma once

#include "driver_versions.h"

#include "msleaks/hook.h"
#include "msleaks/runtime/errno_kept.h"

#include <cstddef>

namespace msleaks::hooks {

inline constexpr int32_t kNone = -1; // there is no such function, or it cannot be asked now

// The real function, whoever has loaded it, called past our hooks. What it leaves in errno is none of the program's.
template <class Signature, class... Arguments> int32_t callReal(hook::Function &function, Arguments... arguments) {
  const runtime::ErrnoKept kept;
  auto *const real = reinterpret_cast<Signature *>(hook::realOf(function));
  return real != nullptr ? real(arguments...) : kNone;
}

// Where a library keeps an error for the program, which may ask for it later.
struct LastError {
  hook::Function &look, &take;
};

// Asks a function of such a library: not while it keeps an error, which a call that fails would replace, and in HIP
// until version 7 any call; and no error of ours stays.
template <class Ask> int32_t leavingLastError(const LastError &last, Ask ask) {
  if (callReal<int()>(last.look) > 0)
    return kNone;
  const int32_t status = ask();
  if (status != 0)
    callReal<int()>(last.take);
  return status;
}

// While a stream is captured, a call that is no part of the capture would end it. `exchange` sets what the calling
// thread may do meanwhile, and gives what it was: (int *mode).
template <class Exchange> class CaptureRelaxed {
public:
  explicit CaptureRelaxed(Exchange exchange) : exchange_(exchange) { exchange_(&mode_); }
  ~CaptureRelaxed() { exchange_(&mode_); }
  CaptureRelaxed(const CaptureRelaxed &) = delete;
  CaptureRelaxed &operator=(const CaptureRelaxed &) = delete;

private:
  Exchange exchange_;
  int mode_ = 2; // relaxed, with CUDA and HIP; then what it was
};

// Of a driver that gives a text of its own.
inline int32_t copyText(const char *known, char *text, uint64_t bytes) {
  if (known == nullptr || bytes == 0)
    return kNone;
  uint64_t length = 0;
  for (; known[length] != 0 && length + 1 < bytes; ++length)
    text[length] = known[length];
  text[length] = 0;
  return 0;
}

} // namespace msleaks::hooks

#define MSL_DEVICE_OF(family, wait, read, name, memory, managed)                                                       \
  constinit const ::msleaks::hook::Device device_##family = {                                                          \
      sizeof(::msleaks::hook::Device),                                                                                 \
      static_cast<uint32_t>(::msleaks::abi::Family::family),                                                           \
      wait,                                                                                                            \
      read,                                                                                                            \
      name,                                                                                                            \
      memory,                                                                                                          \
      ::msleaks::hooks::noteUnknownVersions<::msleaks::abi::Family::family>,                                           \
      managed};                                                                                                        \
  [[gnu::constructor]] void tell##family() {                                                                           \
    if (__msl_hook_driver != nullptr)                                                                                  \
      __msl_hook_driver(&device_##family);                                                                             \
  }
