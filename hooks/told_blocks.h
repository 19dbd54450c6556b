// Blocks that lie where they always lie, told to a tracer: --watch may have named one of them (msleaks/abi/guarded.h).
#pragma once

#include "real.h"

namespace msleaks::hooks {

// Under a tracer that asks for it, puts functions that tell of blocks of some sizes in the place of the real ones.
[[gnu::cold]] void tellBlocks(RealFunctions &) noexcept;

} // namespace msleaks::hooks
