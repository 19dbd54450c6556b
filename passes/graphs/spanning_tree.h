// Chooses the edges that need a counter: those outside of a spanning tree of the graph. The flow into a block equals
// the flow out of the block. So the counts of the tree's edges can be computed from the other counts, beginning at the
// leaves of the tree (analysis/graphs/edge_counts.h).
#pragma once

#include "graphs/edge_graph.h"

namespace msleaks::passes {

// Returns for each edge whether it needs a counter. The tree first gets the edges that cannot have a counter, then the
// edges that are expected to be taken most often. If an edge cannot have a counter but would close a cycle in the tree,
// its count stays unknown.
llvm::SmallVector<bool> edgesOutsideOfTree(const EdgeGraph &graph);

} // namespace msleaks::passes
