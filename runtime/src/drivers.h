// Questions of hooks to the drivers of devices, and the drivers' own numbers of bytes in use.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Null: no hook can ask this driver.
const hook::Device *driverOf(abi::Family) noexcept;

// Call this after an allocation on a device; it decides whether to ask the driver. Call it also where a step begins, or
// memory was refused.
void deviceAllocated(abi::Traits row, uint64_t bytes) noexcept;
void deviceRefused(abi::Traits row) noexcept;
void stepBegins() noexcept;

} // namespace msleaks::runtime
