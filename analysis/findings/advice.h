// Names parts of the user's program in the words of an advice.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/reachability.h"
#include "analysis/result/result.h"

#include <string>

namespace msleaks::analysis::inline findings {

// "`Lattice::make`". If no function is known: "the code at a.c:12", or "the code at libx.so+0x12".
std::string functionIn(const SiteText &);

// "`weights`" if the variable of the block is known; else "this block", or "these blocks".
std::string thingOf(const Finding &);

// "it" or "them".
std::string pronounOf(const Finding &);

// Names the place where a launch, copy or fill uses a block.

// "train.cpp:74 < train.cpp:206": the place of the use, and its caller, because many programs have a wrapper function
// for launches. Empty = not known.
std::string lineOf(SiteId use, Conclusion &);

// "train.cpp:74", or "libx.so+0x10" if the line is not known.
std::string lineOf(const SiteText &place);

// Adds the line of the use to the evidence, if the line is known.
void addLine(Evidence &, const char *name, SiteId use, Conclusion &);

// Describes the holders of a block.

// "global cache (cache.cpp:12) → struct table (malloc at t.c:40) +16". Begins with a global, a stack or another root.
// Each block on the path has the offset of the pointer to the next block.
std::string textOf(const Holders &, Conclusion &);

// Only the start of the path: "`cache`" for a global, "the stack of thread 7". For a lost block: "the `struct table` of
// t.c:40". Empty if it cannot be named.
std::string beginOf(const Holders &, Conclusion &);

} // namespace msleaks::analysis::inline findings
