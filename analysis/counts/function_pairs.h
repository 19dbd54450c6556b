// Finds the same function in two runs, of one program or of two builds of it.
#pragma once

#include "analysis/counts/run_graphs.h"

namespace msleaks::analysis::inline counts {

// `first` or `second` may be null. Both point into the arguments of pairsOf().
struct FunctionPair {
  const CountedFunction *first = nullptr, *second = nullptr;
  // Whether both functions have the same graph. If so, blocks and edges with equal numbers belong together.
  bool isOneGraph() const;
};

// Puts each function into one pair. If several functions have one symbol, functions with equal graphs are paired first,
// then functions of equal files. Several static functions may have one symbol, and another build may have other paths.
std::vector<FunctionPair> pairsOf(std::span<const CountedFunction> first, std::span<const CountedFunction> second);

} // namespace msleaks::analysis::inline counts
