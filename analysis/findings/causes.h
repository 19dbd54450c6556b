// Finds the growths that one cause keeps. A stored loss keeps the whole graph of its forward pass. The tensors of this
// graph were made at several lines and by several operators, so they are several findings.
#pragma once

#include "analysis/result/result.h"

#include <vector>

namespace msleaks::analysis::inline findings {

// Gives the same number (Finding::family) to growths of one cause. PyTorch's forward passes must have made the tensors.
// The blocks must stay behind from the same step on. A call in the user's own code must be around all of them. Removes
// the growth of a pool's segments, if the growth of the pool's parts explains it. The findings must be ranked, and
// their paths must have calls.
void nameCauses(std::vector<Finding> &findings);

} // namespace msleaks::analysis::inline findings
