// Calls the functions of device drivers that hooks have registered, and records how many bytes are in use according to
// a driver.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Returns the functions that call this family's driver, or null if no hook has registered them.
const hook::Device *driverOf(abi::Family) noexcept;

// Call these after an allocation on a device, after a refused allocation, and where a step begins. These functions
// decide whether to call the driver for its bytes in use.
void deviceAllocated(abi::Traits row, uint64_t bytes) noexcept;
void deviceRefused(abi::Traits row) noexcept;
void stepBegins() noexcept;

} // namespace msleaks::runtime
