// Chooses the edges that need a counter: those outside of a spanning tree of the graph. The flow into a block equals
// the flow out of it. So the edges of the tree follow from the others, one by one from its leaves
// (analysis/graphs/edge_counts.h).
#pragma once

#include "graphs/edge_graph.h"

namespace msleaks::passes {

// By edge of the graph, true: it needs one. The tree has the edges that cannot have a counter, as far as they make no
// circle, and then those that run most often. An edge that closes a circle of such edges has none either: unknown.
llvm::SmallVector<bool> edgesOutsideOfTree(const EdgeGraph &graph);

} // namespace msleaks::passes
