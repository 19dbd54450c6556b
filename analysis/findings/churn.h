// Churn: places that allocate the same memory again so often that it takes a part of their threads' time
// (docs/analyses.md).
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/allocation_counts.h"

namespace msleaks::analysis::inline findings {

// A finding for each place of the user's own where it matters, and a table of all places where it can be noticed.
void concludeChurn(const AllocationCounts &, Conclusion &);

} // namespace msleaks::analysis::inline findings
