// Churn: places that allocate the same memory again so often that this takes a part of their threads' time
// (docs/analyses.md).
#pragma once

#include "analysis/findings/conclusion.h"
#include "analysis/live/allocation_counts.h"

namespace msleaks::analysis::inline findings {

// Adds a finding for each own place whose churn matters, and a table of all places with noticeable churn.
void concludeChurn(const AllocationCounts &, Conclusion &);

} // namespace msleaks::analysis::inline findings
