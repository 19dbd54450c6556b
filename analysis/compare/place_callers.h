// The caller that a change of a place's blocks comes from.
#pragma once

#include "analysis/result/result.h"

#include <optional>
#include <vector>

namespace msleaks::analysis::inline compare {

// The lines of a report that are one place.
using SameLines = std::vector<const SiteLine *>;

// The nearest caller of the place whose calls explain three quarters of the change. Null: the run has no such place.
std::optional<FrameText> changedCaller(const SameLines *before, const SameLines *after);

} // namespace msleaks::analysis::inline compare
