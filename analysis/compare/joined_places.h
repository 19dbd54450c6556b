// Places that are one place in one build and several in another: the optimizer leaves out a function that only calls
// another one at its end, so its callers are the places.
#pragma once

#include "analysis/compare/place_callers.h"
#include "analysis/compare/same_places.h"

#include <cstddef>
#include <span>
#include <vector>

namespace msleaks::analysis::inline compare {

// The places of a run: what the matcher must know of each, and its lines in the report.
struct Side {
  std::vector<PlaceFigures> figures;
  std::vector<SameLines> lines; // of the report, as `figures`; several of a library's function
};

// Finds the places without a partner that have the blocks of several such places in the other run together, the same
// variable and type, and these places' functions in their paths. Removes them from `same`. Returns the places of `now`
// of each such group, by index.
std::vector<std::vector<size_t>> joinPlaces(const Side &before, const Side &now, SamePlaces &same);

} // namespace msleaks::analysis::inline compare
