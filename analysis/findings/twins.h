// Finds hints that another finding about most of the same blocks makes unnecessary.
#pragma once

#include "analysis/result/result.h"

#include <functional>
#include <span>
#include <vector>

namespace msleaks::analysis::inline findings {

// Whether `hint` is left out because of `finding`. Both must be about one place.
bool givesWay(const Finding &hint, const Finding &finding);

// For each finding, in this order: whether it is a hint that is left out because of another finding. Calls `gives_way`
// only for findings about one place, because there may be a hundred thousand places at this time.
std::vector<bool> twinsIn(std::span<Finding *const> findings,
                          const std::function<bool(const Finding &hint, const Finding &finding)> &gives_way = givesWay);

} // namespace msleaks::analysis::inline findings
