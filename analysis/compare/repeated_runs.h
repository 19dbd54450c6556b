// Compares several runs of each side, which show how much figures differ by chance.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <span>

namespace msleaks::analysis::inline compare {

// Compares the means of both sides. A difference may be noise: runs of one side differ by at least as much as the two
// sides. Then the place varies. A finding or a fact of the environment differs only if it differs in each pair of runs.
// Neither side may be empty. With one run on each side, this is compareRuns().
RunComparison compareRepeatedRuns(std::span<const Report> first, std::span<const Report> second,
                                  StateAt at = StateAt::Peak);

} // namespace msleaks::analysis::inline compare
