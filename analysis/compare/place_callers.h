// Finds the caller that explains the change of a place's blocks.
#pragma once

#include "analysis/result/result.h"

#include <optional>
#include <vector>

namespace msleaks::analysis::inline compare {

// The lines of a report that are one place in a comparison.
using SameLines = std::vector<const SiteLine *>;

// Returns the nearest caller whose calls explain at least three quarters of the place's change. Returns nothing if no
// caller does. `before` or `after` is null if that run does not have the place.
std::optional<FrameText> changedCaller(const SameLines *before, const SameLines *after);

} // namespace msleaks::analysis::inline compare
