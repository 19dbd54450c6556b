// Finds places whose sizes follow a parameter of the program. The sizes of all these places changed by one factor.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <optional>
#include <string>

namespace msleaks::analysis::inline compare {

struct CommonFactor {
  double factor = 1; // bytes of the second run, divided by bytes of the first run
  size_t places = 0;
};

// Returns the common factor of the places with this state, Grown or Shrunk. Returns null if fewer than two places have
// the state, or if their factors differ by more than a hundredth. Places with less than a thousandth of the change do
// not count.
std::optional<CommonFactor> commonFactorOf(const ComparedMemory &, PlaceState state);

// Returns a sentence for each direction with a common factor, otherwise an empty text.
std::string factorText(const ComparedMemory &);

} // namespace msleaks::analysis::inline compare
