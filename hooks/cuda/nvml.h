// Asks NVML, the library that manages the GPUs of a machine. NVML also counts the memory that the driver reserves for
// itself.
#pragma once

#include <cstdint>

namespace msleaks::hooks {

// Stores how many bytes of the thread's device are in use. The process must have loaded and initialised NVML: msleaks
// does neither. Returns 0, kNone or NVML's error.
int32_t bytesInUseByNvml(uint64_t *bytes);

} // namespace msleaks::hooks
