// Calls the functions of device drivers that hooks have registered. Records how many bytes are in use according to the
// driver.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Returns the functions that call this family's driver, or null if no hook has registered them.
const hook::Device *driverOf(abi::Family) noexcept;

// Call these functions after an allocation on a device, after a refused allocation, and at the beginning of a step.
// They decide whether to ask the driver how many bytes are in use, and record this number.
void deviceAllocated(abi::Traits row, uint64_t bytes) noexcept;
void deviceRefused(abi::Traits row) noexcept;
void stepBegins() noexcept;

} // namespace msleaks::runtime
