// Types of the blocks that libc hands out (libc_types.def).
#pragma once

#include "analysis/places/site.h"

#include <string_view>

namespace msleaks::analysis {

bool isOfLibc(const Site &call);
// What a block is that libc's `innermost` call took, when the program called `callee`; empty: nothing says.
std::string_view libcTypeOf(const Site &innermost, std::string_view callee);

} // namespace msleaks::analysis
