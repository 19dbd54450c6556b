// The program's own things in the words of an advice.
#pragma once

#include "analysis/findings/result.h"

#include <string>

namespace msleaks::analysis {

// "`Lattice::make`"; where no function is known "the code at a.c:12", or "the code at libx.so+0x12".
std::string functionIn(const SiteText &);

// "`weights`" where the place says what its block is for; else "this block", or "these blocks".
std::string thingOf(const Finding &);

// "it" or "them".
std::string pronounOf(const Finding &);

} // namespace msleaks::analysis
