// Handles of physical memory that are no block of ours: memory of the host, or of another process, or what several
// devices share. What is done with such a handle is not recorded.
#pragma once

#include "msleaks/abi/symbols.h"

#include <cstdint>

namespace msleaks::hooks {

// One owner more. Of too many handles the last ones are not known.
void keepUnseen(abi::Family family, uint64_t handle) noexcept;
bool isUnseen(abi::Family family, uint64_t handle) noexcept;
// One owner less.
void dropUnseen(abi::Family family, uint64_t handle) noexcept;
// The driver has given the number to a block.
void endUnseen(abi::Family family, uint64_t handle) noexcept;

} // namespace msleaks::hooks
