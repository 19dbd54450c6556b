// Finds places that are one place in one build and several places in another build. The optimizer is the reason. A
// function may do nothing but call another function at its end. Then the optimizer may leave it out of the path, and
// its callers are the places.
#pragma once

#include "analysis/compare/place_callers.h"
#include "analysis/compare/same_places.h"

#include <cstddef>
#include <span>
#include <vector>

namespace msleaks::analysis::inline compare {

// The places of a run: the figures that the matcher needs, and the lines of the report.
struct Side {
  std::vector<PlaceFigures> figures;
  std::vector<SameLines> lines; // lines of the report; several for a function of a library
};

// Finds each place without a partner that has the same blocks as several such places of the other run together. All
// these places have the same variable and type. The several functions must occur in the paths of the one place. Removes
// the places from `same`. Returns for each such group the indices of its places in `now`.
std::vector<std::vector<size_t>> joinPlaces(const Side &before, const Side &now, SamePlaces &same);

} // namespace msleaks::analysis::inline compare
