// Finds the place where an edge is counted: it runs exactly when the edge does.
#pragma once

#include "graphs/edge_graph.h"

namespace llvm {
class Instruction;
} // namespace llvm

namespace msleaks::passes {

// The instruction in front of which the edge is counted: in a block at one of its ends, or in a new one between them.
//
//   br %c, left, join   →   br %c, left, edge2_5
//                           edge2_5: … br join
//
// With `always_between`, each edge between two blocks gets a block of its own, where it can have one.
llvm::Instruction &placeOn(const EdgeGraph &graph, const Edge &edge, bool always_between);

} // namespace msleaks::passes
