// NVML, which manages the GPUs of a machine: it counts what the driver reserves for itself, too.
#pragma once

#include <cstdint>

namespace msleaks::hooks {

// What is in use of the device that the thread uses, in bytes, if the process has loaded NVML and begun with it: we do
// neither. kNone, or NVML's error.
int32_t bytesInUseByNvml(uint64_t *bytes);

} // namespace msleaks::hooks
