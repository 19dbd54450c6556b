// Makes a profile for LNT from the graphs of a run. The lines of a function are its blocks and the jumps between them.
#pragma once

#include "analysis/counts/profile.h"
#include "analysis/counts/run_graphs.h"

namespace msleaks::analysis::inline counts {

// The counters are instructions (that ran), block-visits and edge-count. A profile contains only functions that ran.
// Jumps are written as jumps of x86, because LNT's page draws the graph from such jumps (docs/profiles.md). An unknown
// count is taken as 0.
profiles::Profile profileOf(std::span<const CountedFunction> functions);

} // namespace msleaks::analysis::inline counts
