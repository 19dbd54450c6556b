// Several runs of each side show how much figures differ by themselves.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <span>

namespace msleaks::analysis::inline compare {

// Compares the means of both sides. A figure is noise if it differs between runs of one side by at least as much as
// between the sides: its place varies. A finding or a fact of the environment differs only if it does so in each pair
// of runs. Neither side is empty. Of one run each, this is compareRuns().
RunComparison compareRepeatedRuns(std::span<const Report> first, std::span<const Report> second,
                                  StateAt at = StateAt::Peak);

} // namespace msleaks::analysis::inline compare
