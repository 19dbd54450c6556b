// The program's own things in the words of an advice.
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/reachability.h"
#include "analysis/result/result.h"

#include <string>

namespace msleaks::analysis::inline findings {

// "`Lattice::make`"; where no function is known "the code at a.c:12", or "the code at libx.so+0x12".
std::string functionIn(const SiteText &);

// "`weights`" where the place says what its block is for; else "this block", or "these blocks".
std::string thingOf(const Finding &);

// "it" or "them".
std::string pronounOf(const Finding &);

// Where a launch, copy or fill uses a block, in the words of a finding.

// "train.cpp:74 < train.cpp:206": the place of the use, and its caller, since many programs have a function of their
// own that launches. Empty: not known.
std::string lineOf(SiteId use, Conclusion &);

// "train.cpp:74", or "libx.so+0x10" where no line is known.
std::string lineOf(const SiteText &place);

// The line of the use as evidence, where it is known.
void addLine(Evidence &, const char *name, SiteId use, Conclusion &);

// The holders of a block, in words.

// "global cache (cache.cpp:12) → struct table (malloc at t.c:40) +16". It begins with a global, a stack or the like.
// Each block on the way from there has the offset of the pointer that leads on.
std::string textOf(const Holders &, Conclusion &);

// Names only the begin of the way: "`cache`" for a global, "the stack of thread 7". For a lost block it is "the
// `struct table` of t.c:40". Empty where it cannot be named.
std::string beginOf(const Holders &, Conclusion &);

} // namespace msleaks::analysis::inline findings
