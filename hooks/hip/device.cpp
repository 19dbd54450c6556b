// The functions by which the runtime calls HIP (hook::Device).
#include "hip/ask.h"
#include "host/real.h"

using namespace msleaks;
using hooks::hip::ask;

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

constexpr auto kExchange = [](int *mode) { ask<int(int *)>(exchange_mode, mode); };
constexpr auto kGetState = [](const void *stream, int *state) {
  return ask<int(const void *, int *)>(capturing, stream, state);
};
constexpr auto kSynchronize = [](const void *stream) { return ask<int(const void *)>(synchronize, stream); };
using Calls = hooks::StreamCalls<kExchange, kGetState, kSynchronize>;

int32_t read(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  constexpr int kDeviceToHost = 2;
  const Calls::Relaxed relaxed(kExchange);
  const auto *from = static_cast<const char *>(block) + offset;
  const int32_t status =
      ask<int(void *, const void *, size_t, int, const void *)>(copy, to, from, bytes, kDeviceToHost, stream);
  return status == 0 ? Calls::wait(stream) : status;
}

// Null: HIP has no such function, or does not know the kernel.
template <class... Arguments> const char *textOf(hook::Function &function, Arguments... arguments) {
  auto *const real = reinterpret_cast<const char *(*)(Arguments...)>(hook::realOf(function));
  return real != nullptr ? real(arguments...) : nullptr;
}

// HIP looks a stub (a function of the host) up in a table. It takes any handle for valid. So only addresses outside of
// all images are passed as handles.
int32_t name(const void *kernel, char *text, uint64_t bytes) {
  return hooks::leavingLastError(hooks::hip::kLast, [=] {
    const char *known = textOf<const void *, const void *>(name_of_stub, kernel, nullptr);
    if (known == nullptr && hooks::imageOf(kernel) == nullptr)
      known = textOf(name_of_handle, kernel);
    return hooks::copyText(known, text, bytes);
  });
}

int32_t memory(uint64_t *free, uint64_t *total) {
  const Calls::Relaxed relaxed(kExchange);
  return ask<int(size_t *, size_t *)>(information, free, total);
}

MSL_DEVICE_OF(Hip, Calls::wait, read, name, memory, nullptr)

} // namespace

constinit const hooks::LastError hooks::hip::kLast = {look_at_error, take_error};
