// What hooks can ask the drivers of devices, and how much memory these say is in use.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/thread.h"

namespace msleaks::runtime {

// Null: nobody can ask it.
const hook::Device *driverOf(abi::Family) noexcept;

// Behind an allocation of a device, which may be the moment to ask; and where a step begins, or memory was refused.
void deviceAllocated(abi::Traits row, uint64_t bytes) noexcept;
void deviceRefused(abi::Traits row) noexcept;
void stepBegins() noexcept;

} // namespace msleaks::runtime
