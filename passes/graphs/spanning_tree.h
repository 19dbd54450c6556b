// Chooses the edges that need a counter: those outside of a spanning tree of the graph. The counts of a block's
// incoming and outgoing edges have the same sum. So the counts of the tree's edges can be computed from the other
// counts (analysis/counts/edge_counts.h).
#pragma once

#include "graphs/edge_graph.h"

namespace msleaks::passes {

// Returns for each edge whether it needs a counter. The tree first gets the edges that cannot have a counter, then the
// edges that are expected to be taken most often.
llvm::SmallVector<bool> edgesOutsideOfTree(const EdgeGraph &graph);

} // namespace msleaks::passes
