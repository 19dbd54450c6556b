// Code for the functions by which the runtime calls a driver (hook::Device). They call the driver's real functions,
// without the hooks.
#pragma once

#include "devices/driver_versions.h"

#include "msleaks/hook.h"
#include "msleaks/runtime/errno_kept.h"

#include <cstddef>

namespace msleaks::hooks {

inline constexpr int32_t kNone = -1; // there is no such function, or it cannot be called now

// Calls the real function without its hook. The program's errno stays unchanged.
template <class Signature, class... Arguments> int32_t callReal(hook::Function &function, Arguments... arguments) {
  const runtime::ErrnoKept kept;
  auto *const real = reinterpret_cast<Signature *>(hook::realOf(function));
  return real != nullptr ? real(arguments...) : kNone;
}

// The functions of a library that keeps an error for the program. `look` returns the error, and `take` also removes it.
struct LastError {
  hook::Function &look, &take;
};

// Calls a function of such a library. If the call fails, removes the error that it has left. If the library keeps an
// error for the program, calls nothing: a failed call would replace this error. In HIP until version 7, any call would.
template <class Ask> int32_t leavingLastError(const LastError &last, Ask ask) {
  if (callReal<int()>(last.look) > 0)
    return kNone;
  const int32_t status = ask();
  if (status != 0)
    callReal<int()>(last.take);
  return status;
}

// While a stream is captured, a call outside of the capture would end the capture. An object of this class allows such
// calls. `exchange`: (int *mode), sets the mode of the calling thread and returns the old mode.
template <class Exchange> class CaptureRelaxed {
public:
  explicit CaptureRelaxed(Exchange exchange) : exchange_(exchange) { exchange_(&mode_); }
  ~CaptureRelaxed() { exchange_(&mode_); }
  CaptureRelaxed(const CaptureRelaxed &) = delete;
  CaptureRelaxed &operator=(const CaptureRelaxed &) = delete;

private:
  Exchange exchange_;
  int mode_ = 2; // "relaxed" in CUDA and HIP; later the old mode
};

// Calls of CUDA and HIP. `kExchange(int *mode)` is as above. `kGetState(stream, int *state)` stores whether the stream
// is captured. `kSynchronize(stream)` waits.
template <auto kExchange, auto kGetState, auto kSynchronize> struct StreamCalls {
  using Relaxed = CaptureRelaxed<decltype(kExchange)>;

  // Whether the stream is captured. Its work does not run before the captured graph is launched. The driver refuses to
  // answer for the default stream if a wait for this stream would end the capture of another one.
  static bool isCapturing(const void *stream) {
    int state = 0;
    const int32_t status = kGetState(stream, &state);
    return state != 0 || status > 0;
  }
  static int32_t wait(const void *stream) {
    const Relaxed relaxed(kExchange);
    return isCapturing(stream) ? kNone : kSynchronize(stream);
  }
};

// Copies a text that the driver keeps.
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
