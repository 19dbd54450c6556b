// Finds the same places in two runs. The program may have been edited, and built in another folder, between the runs.
#pragma once

#include "analysis/compare/place_pairing.h"
#include "analysis/compare/relocation.h"

#include <span>

namespace msleaks::analysis::inline compare {

// Finds the same places. Places are the same if the same paths lead to them. Otherwise the source file, the function
// and the purpose of the block decide. Lines only decide among several such places. A function may now be in another
// file, or have another name. docs/compare.md lists these rules in their order.
SamePlaces samePlaces(std::span<const PlaceFigures> before, std::span<const PlaceFigures> now, const Relocation &);

} // namespace msleaks::analysis::inline compare
