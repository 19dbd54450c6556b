// Who holds a block, in words.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/reachability.h"

#include <string>

namespace msleaks::analysis {

// "global cache (cache.cpp:12) → struct table (malloc at t.c:40) +16": a global, a stack or the like, and the blocks
// on the way from it, each with the offset of the pointer that leads on.
std::string textOf(const Holders &, Conclusion &);

} // namespace msleaks::analysis
