// The line of the forward pass that belongs to blocks of a backward pass.
#pragma once

#include "analysis/live/cohorts.h"
#include "analysis/result/lines.h"

#include <span>

namespace msleaks::analysis::inline findings {

// The user's own line that made the nodes of the backward pass for which these blocks were allocated. Empty if no line
// has more than half of the bytes.
FrameText forwardLineOf(std::span<const CohortShare>, const Cohorts &, Lines &);

} // namespace msleaks::analysis::inline findings
