// Reports blocks to a tracer, without a change of their addresses: --watch may have named one of them
// (msleaks/abi/guarded.h).
#pragma once

#include "host/real.h"

namespace msleaks::hooks {

// If a tracer asks for it, replaces the real functions by functions that report blocks of certain sizes.
[[gnu::cold]] void tellBlocks(RealFunctions &) noexcept;

} // namespace msleaks::hooks
