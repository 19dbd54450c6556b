// Finds a position for code that must run exactly when an edge is taken.
#pragma once

#include "graphs/edge_graph.h"

namespace llvm {
class Instruction;
} // namespace llvm

namespace msleaks::passes {

// Returns the instruction in front of which the edge is counted. The instruction is in one of the edge's two blocks, or
// in a new block between them.
//
//   br %c, left, join   →   br %c, left, edge2_5
//                           edge2_5: … br join
//
// With `always_between`, each edge between two blocks gets a block of its own if that is possible.
llvm::Instruction &placeOn(const EdgeGraph &graph, const Edge &edge, bool always_between);

} // namespace msleaks::passes
