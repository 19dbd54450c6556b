// Writes the changed places as trees: version, library, file, place. Growth and shrinkage have separate trees.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <iosfwd>

namespace msleaks::analysis::inline compare {

// Prints one tree for grown places and one for shrunk places, if there are such places. Each branch has the sum of its
// places. The largest branches come first. `environment` says which libraries have another version in the second run.
void writePlaceTrees(std::ostream &, const ComparedMemory &, const std::vector<EnvironmentChange> &environment,
                     size_t columns);

} // namespace msleaks::analysis::inline compare
