// The holders of a block, in words.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/reachability.h"

#include <string>

namespace msleaks::analysis {

// "global cache (cache.cpp:12) → struct table (malloc at t.c:40) +16". It begins with a global, a stack or the like.
// Each block on the way from there has the offset of the pointer that leads on.
std::string textOf(const Holders &, Conclusion &);

// Names only the begin of the way: "`cache`" for a global, "the stack of thread 7". For a lost block it is "the
// `struct table` of t.c:40". Empty where it cannot be named.
std::string beginOf(const Holders &, Conclusion &);

} // namespace msleaks::analysis
