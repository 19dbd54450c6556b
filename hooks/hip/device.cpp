// The functions by which the runtime calls HIP (hook::Device). Until version 7, each call of HIP sets the result of
// hipGetLastError, also to success.
#include "devices/device.h"
#include "host/real.h"

using namespace msleaks;

namespace {

MSL_ASKED(synchronize, "libamdhip64", "hipStreamSynchronize")
MSL_ASKED(copy, "libamdhip64", "hipMemcpyAsync")
MSL_ASKED(information, "libamdhip64", "hipMemGetInfo")
MSL_ASKED(name_of_stub, "libamdhip64", "hipKernelNameRefByPtr")
MSL_ASKED(name_of_handle, "libamdhip64", "hipKernelNameRef")
MSL_ASKED(capturing, "libamdhip64", "hipStreamIsCapturing")
MSL_ASKED(exchange_mode, "libamdhip64", "hipThreadExchangeStreamCaptureMode")
MSL_ASKED(look_at_error, "libamdhip64", "hipPeekAtLastError")
MSL_ASKED(take_error, "libamdhip64", "hipGetLastError")

constexpr hooks::LastError kLast = {look_at_error, take_error};

template <class Signature, class... Arguments> int32_t ask(hook::Function &function, Arguments... arguments) {
  return hooks::leavingLastError(kLast, [&] { return hooks::callReal<Signature>(function, arguments...); });
}

void exchange(int *mode) { ask<int(int *)>(exchange_mode, mode); }

// Whether the stream is captured. Its work does not run before the captured graph is launched. HIP refuses to answer
// for the default stream if a wait for this stream would end the capture of another one.
bool isCapturing(const void *stream) {
  int state = 0;
  const int32_t status = ask<int(const void *, int *)>(capturing, stream, &state);
  return state != 0 || status > 0;
}

int32_t wait(const void *stream) {
  const hooks::CaptureRelaxed relaxed(exchange);
  return isCapturing(stream) ? hooks::kNone : ask<int(const void *)>(synchronize, stream);
}

int32_t read(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  constexpr int kDeviceToHost = 2;
  const hooks::CaptureRelaxed relaxed(exchange);
  const auto *from = static_cast<const char *>(block) + offset;
  const int32_t status =
      ask<int(void *, const void *, size_t, int, const void *)>(copy, to, from, bytes, kDeviceToHost, stream);
  return status == 0 ? wait(stream) : status;
}

// Null: HIP has no such function, or does not know the kernel.
template <class... Arguments> const char *textOf(hook::Function &function, Arguments... arguments) {
  auto *const real = reinterpret_cast<const char *(*)(Arguments...)>(hook::realOf(function));
  return real != nullptr ? real(arguments...) : nullptr;
}

// HIP looks a stub (a function of the host) up in a table. It takes any handle for valid. So only addresses outside of
// all images are passed as handles.
int32_t name(const void *kernel, char *text, uint64_t bytes) {
  return hooks::leavingLastError(kLast, [=] {
    const char *known = textOf<const void *, const void *>(name_of_stub, kernel, nullptr);
    if (known == nullptr && hooks::imageOf(kernel) == nullptr)
      known = textOf(name_of_handle, kernel);
    return hooks::copyText(known, text, bytes);
  });
}

int32_t memory(uint64_t *free, uint64_t *total) {
  const hooks::CaptureRelaxed relaxed(exchange);
  return ask<int(size_t *, size_t *)>(information, free, total);
}

MSL_DEVICE_OF(Hip, wait, read, name, memory, nullptr)

} // namespace
