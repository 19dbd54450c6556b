// Which places of one run are those of another one, whose program may have been edited and built elsewhere since.
#pragma once

#include "analysis/compare/place_pairing.h"
#include "analysis/compare/relocation.h"

#include <span>

namespace msleaks::analysis::inline compare {

// A place is known by the paths that led to it. Otherwise it is known by its source file, its function, and what the
// block is for. Lines only decide between several such places. A function may have moved into another file, or have
// another name now. docs/compare.md lists these rules in their order.
SamePlaces samePlaces(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now, const Relocation &);

} // namespace msleaks::analysis::inline compare
