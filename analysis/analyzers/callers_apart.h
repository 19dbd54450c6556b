// Tells apart the paths to one place. A function that allocates for many callers is one place, and the callers show the
// purpose of the memory.
#pragma once

#include "analysis/result/lines.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// The blocks of a place whose paths have the same callers.
struct PathGroup {
  PlaceGroup group;
  std::string callers; // calls that tell this path from others, innermost first; empty: the group contains all paths
};

// Groups paths by the first calls in which they differ. Returns groups with at least a tenth of the bytes. Returns the
// whole group alone if there are fewer than two groups, or if one has three quarters of the bytes.
std::vector<PathGroup> callersApart(const PlaceGroup &, SiteCatalog &);

} // namespace msleaks::analysis::inline analyzers
