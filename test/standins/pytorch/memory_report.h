// Imitates the function by which PyTorch's allocators report memory to its profiler. A test defines PYTORCH_SUM as the
// type of the sums in older versions.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef PYTORCH_SUM
#define PYTORCH_SUM size_t
#endif

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, PrivateUse1 = 20 };

struct Device {
  DeviceType type;
  int8_t index;
};

// `bytes` is negative if the memory was freed. The sums are the bytes of all parts and of all segments.
void reportMemoryUsageToProfiler(void *, int64_t bytes, PYTORCH_SUM allocated, PYTORCH_SUM reserved, Device);

// The bytes that were reported for this type of device, in the stand-in only.
int64_t reportedBytes(DeviceType);

} // namespace c10
