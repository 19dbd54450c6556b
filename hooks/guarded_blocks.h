// Blocks on pages of their own, which nobody can touch unseen (msleaks/abi/guarded.h).
#pragma once

#include "real.h"

namespace msleaks::hooks {

// Under a tracer that asks for it, puts functions that guard some blocks in the place of the real ones.
[[gnu::cold]] void guardBlocks(RealFunctions &) noexcept;

} // namespace msleaks::hooks
