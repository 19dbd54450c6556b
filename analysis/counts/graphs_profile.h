// Graphs of a run as a profile of LNT's: a function's lines are its blocks and the jumps between them.
#pragma once

#include "analysis/counts/profile.h"
#include "analysis/counts/run_graphs.h"

namespace msleaks::analysis::inline counts {

// Counters: instructions (that ran), block-visits, edge-count; all of them absolute in the whole, and of a function
// those that ran. Jumps are written in the words of x86, from which LNT's page draws the graph (docs/profiles.md). What
// is not known counts 0.
profiles::Profile profileOf(std::span<const CountedFunction> functions);

} // namespace msleaks::analysis::inline counts
