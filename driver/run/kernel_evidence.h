// Parses --kernel, and starts the collectors of kernel evidence that it names.
#pragma once

#include "analysis/base/result.h"
#include "kernel/kernel_session.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// Parses the value of --kernel: "syscalls:openat,59,faults" are the collectors syscalls, with these calls, and faults.
Result<std::vector<kernel::Request>> parseKernel(std::string_view list);

// Attaches what the kernel accepts, and warns once about each collector that it refuses. `ring_kib`: size of each ring.
std::unique_ptr<kernel::KernelSession> startKernel(const std::vector<kernel::Request> &, uint64_t ring_kib);

} // namespace msleaks::driver
