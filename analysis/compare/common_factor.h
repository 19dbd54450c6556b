// Places whose sizes follow a parameter of the program: all have grown by one factor.
#pragma once

#include "analysis/compare/run_comparison.h"

#include <optional>
#include <string>

namespace msleaks::analysis::inline compare {

struct CommonFactor {
  double factor = 1; // bytes in the second run, as a multiple of those in the first one
  size_t places = 0;
};

// `state`: Grown or Shrunk. Null: fewer than two places have it, or their factors differ by more than a hundredth.
// Places with less than a thousandth of the change do not count.
std::optional<CommonFactor> commonFactorOf(const ComparedMemory &, PlaceState state);

// A sentence for each direction that has such a factor; otherwise empty.
std::string factorText(const ComparedMemory &);

} // namespace msleaks::analysis::inline compare
