// One FILE that is never closed leaves a handle, the C library's block for it, and its buffer: that is one mistake.
#pragma once

#include "analysis/result/result.h"

#include <span>
#include <vector>

namespace msleaks::analysis::inline findings {

// Gives the leaks of FILEs and of their buffers to the finding that tells to close them. True for each finding that has
// nothing more to say, in the order of `findings`.
std::vector<bool> foldFileLeaks(std::span<Finding *const> findings);

} // namespace msleaks::analysis::inline findings
