// What the runtime asks of HIP.
#include "device.h"

using namespace msleaks;

namespace {

MSL_ASKED(synchronize, "libamdhip64", "hipStreamSynchronize")
MSL_ASKED(copy, "libamdhip64", "hipMemcpyAsync")
MSL_ASKED(information, "libamdhip64", "hipMemGetInfo")
MSL_ASKED(kernel_name, "libamdhip64", "hipKernelNameRefByPtr")
MSL_ASKED(capturing, "libamdhip64", "hipStreamIsCapturing")

// A call of ours would end a capture, and nothing runs before it is launched.
int32_t wait(const void *stream) {
  int state = 0;
  hooks::callReal<int(const void *, int *)>(capturing, stream, &state);
  return state == 0 ? hooks::callReal<int(const void *)>(synchronize, stream) : hooks::kNone;
}

int32_t read(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to) {
  constexpr int kDeviceToHost = 2;
  const auto *from = static_cast<const char *>(block) + offset;
  using Copy = int(void *, const void *, size_t, int, const void *);
  const int32_t status = hooks::callReal<Copy>(copy, to, from, bytes, kDeviceToHost, stream);
  return status == 0 ? wait(stream) : status;
}

int32_t name(const void *kernel, char *text, uint64_t bytes) {
  using Ask = const char *(const void *, const void *);
  auto *const ask = reinterpret_cast<Ask *>(hook::realOf(kernel_name));
  return ask != nullptr ? hooks::copyText(ask(kernel, nullptr), text, bytes) : hooks::kNone;
}

int32_t memory(uint64_t *free, uint64_t *total) {
  return hooks::callReal<int(size_t *, size_t *)>(information, free, total);
}

MSL_DEVICE_OF(Hip, wait, read, name, memory, nullptr)

} // namespace
