// Finds hints that say nothing more than another finding about most of the same blocks.
#pragma once

#include "analysis/result/result.h"

#include <functional>
#include <span>
#include <vector>

namespace msleaks::analysis::inline findings {

// Whether `hint` gives way to `finding`. Both are about one place.
bool givesWay(const Finding &hint, const Finding &finding);

// For each finding, in this order: whether it is a hint that gives way to another finding. Calls `gives_way` only for
// findings about one place. There may be a hundred thousand places, since the findings are not limited yet.
std::vector<bool> twinsIn(std::span<Finding *const> findings,
                          const std::function<bool(const Finding &hint, const Finding &finding)> &gives_way = givesWay);

} // namespace msleaks::analysis::inline findings
