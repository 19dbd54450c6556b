// Paths to one place that a report tells apart: a function that takes memory for everybody is one place, and its
// callers say what the memory is for.
#pragma once

#include "analysis/result/lines.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// The blocks of a place that came by one way.
struct PathGroup {
  PlaceGroup group;
  std::string callers; // what tells the way from the others, innermost call first; empty: the group has all ways
};

// The ways that stand out, by the first calls in which they differ: those with a tenth of the bytes or more. The whole
// group alone where there are no two of them, or where one has three quarters of the bytes.
std::vector<PathGroup> callersApart(const PlaceGroup &, SiteCatalog &);

} // namespace msleaks::analysis::inline analyzers
