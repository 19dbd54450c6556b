// What the runtime asks of HIP.
#include "device.h"

using namespace msleaks;

namespace {

hook::Function synchronize = {"libamdhip64", "hipStreamSynchronize", nullptr, nullptr};
hook::Function copy = {"libamdhip64", "hipMemcpyAsync", nullptr, nullptr};
hook::Function information = {"libamdhip64", "hipMemGetInfo", nullptr, nullptr};
hook::Function kernel_name = {"libamdhip64", "hipKernelNameRefByPtr", nullptr, nullptr};
hook::Function capturing = {"libamdhip64", "hipStreamIsCapturing", nullptr, nullptr};

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

MSL_DEVICE_OF(Hip, wait, read, name, memory)

} // namespace
