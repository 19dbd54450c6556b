// A FILE that is never closed leaves a handle, libc's block for it, and its buffer. This is only one mistake.
#pragma once

#include "analysis/result/result.h"

#include <span>
#include <vector>

namespace msleaks::analysis::inline findings {

// Adds the leaks of FILEs and of their buffers to the finding that says to close the FILEs. Returns true for each
// finding that is no longer needed, in the order of `findings`.
std::vector<bool> foldFileLeaks(std::span<Finding *const> findings);

} // namespace msleaks::analysis::inline findings
