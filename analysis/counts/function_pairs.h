// Which function of one run is which of another: two runs of a program, or of two builds of it.
#pragma once

#include "analysis/counts/run_graphs.h"

namespace msleaks::analysis::inline counts {

// One of them may be missing. Both point into what pairsOf was given.
struct FunctionPair {
  const CountedFunction *first = nullptr, *second = nullptr;
  // Block n and edge n of the one are those of the other.
  bool isOneGraph() const;
};

// Each function is in one pair. If several functions have one symbol, equal graphs go together first, then equal files.
// The symbol of a static function may be that of others, and another build may have other paths.
std::vector<FunctionPair> pairsOf(std::span<const CountedFunction> first, std::span<const CountedFunction> second);

} // namespace msleaks::analysis::inline counts
