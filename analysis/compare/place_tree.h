// The changed places as a tree: version, library, file, place; what grew apart from what shrank.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <iosfwd>

namespace msleaks::analysis::inline compare {

// Prints a tree for each direction, with the sum of each branch, largest first. A direction without places has none.
// `environment`: says which libraries have another version in the second run.
void writePlaceTrees(std::ostream &, const ComparedMemory &, const std::vector<EnvironmentChange> &environment,
                     size_t columns);

} // namespace msleaks::analysis::inline compare
