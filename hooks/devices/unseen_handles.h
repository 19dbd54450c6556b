// Handles of physical memory that is not recorded as a block: several devices share it, or its kind is not known.
// Releases of such a handle are not recorded.
#pragma once

#include "msleaks/abi/symbol.h"

#include <cstdint>

namespace msleaks::hooks {

// Adds an owner.
void keepUnseen(abi::Family family, uint64_t handle) noexcept;
bool isUnseen(abi::Family family, uint64_t handle) noexcept;
// Removes an owner.
void dropUnseen(abi::Family family, uint64_t handle) noexcept;
// Call this when the driver has given this handle to a block.
void endUnseen(abi::Family family, uint64_t handle) noexcept;

} // namespace msleaks::hooks
