// Chooses the edges that need a counter: those outside of a spanning tree of the graph. The flow into a block equals
// the flow out of the block. So the counts of the tree's edges follow from the others, one by one from its leaves
// (analysis/graphs/edge_counts.h).
#pragma once

#include "graphs/edge_graph.h"

namespace msleaks::passes {

// Returns for each edge whether it needs a counter. The tree first takes the edges that cannot have a counter, then
// those that run most often. An edge that cannot have a counter but closes a circle stays unknown.
llvm::SmallVector<bool> edgesOutsideOfTree(const EdgeGraph &graph);

} // namespace msleaks::passes
