// Blocks on pages of their own, so that the tracer sees each access (msleaks/abi/guarded.h).
#pragma once

#include "host/real.h"

namespace msleaks::hooks {

// If a tracer asks for it, replaces the real functions by functions that guard some blocks.
[[gnu::cold]] void guardBlocks(RealFunctions &) noexcept;

} // namespace msleaks::hooks
