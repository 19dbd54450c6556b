// Records the memory of tensors that PyTorch's caching allocators take from blocks of an accelerator. The driver's
// hooks see only these blocks, which PyTorch calls segments.
//
// The allocators report each part of a segment to PyTorch's profiler, by a function of libc10. Reports about the host
// are not recorded: its tensors are blocks of malloc. Reports about PrivateUse1 are not recorded either, because
// torch_npu also reports its parts by MSTX (marks/mstx.cpp).
#include "core/own_hook.h"
#include "frameworks/reported_part.h"

using namespace msleaks;

namespace {

// c10::Device
struct Device {
  int8_t type, index;
};
enum DeviceType : int8_t { kCpu = 0, kPrivateUse1 = 20 };

// `bytes` is negative if the part was given back to the allocator.
void record(const void *part, int64_t bytes, Device device, const void *caller) {
  if (device.type == kCpu || device.type == kPrivateUse1)
    return;
  if (bytes < 0)
    hooks::recordPartFreed(part, caller);
  else
    hooks::recordPart(part, static_cast<uint64_t>(bytes), static_cast<uint8_t>(device.index), caller);
}

} // namespace

// c10::reportMemoryUsageToProfiler(part, bytes, bytes of all parts, bytes of all segments, device). Older versions of
// PyTorch have signed sums.
#define MSL_REPORT(name, sum)                                                                                          \
  MSL_OWN_HOOK(libc10, void, name, (void *part, int64_t bytes, sum parts, sum segments, Device device)) {              \
    record(part, bytes, device, __builtin_return_address(0));                                                          \
    auto *const real = reinterpret_cast<void (*)(void *, int64_t, sum, sum, Device)>(                                  \
        hook::realOf(msl_hook_of_##name, __builtin_return_address(0)));                                                \
    if (real != nullptr)                                                                                               \
      real(part, bytes, parts, segments, device);                                                                      \
  }

MSL_REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE, size_t)
MSL_REPORT(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE, int64_t)
