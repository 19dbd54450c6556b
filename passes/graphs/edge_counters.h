// Which edges of a function get a counter, and where in the code they are counted.
#pragma once

#include "graphs/edge_graph.h"
#include "graphs/graph_table.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

// By edge of the graph. Counters are numbered on from `next`.
llvm::SmallVector<EdgeCount> chooseCounters(const EdgeGraph &graph, bool all, uint32_t &next);

// Makes the places, the function's own at `begin`; counters are the function's, from 0.
llvm::SmallVector<CounterPlace> placesOf(llvm::Instruction &begin, const EdgeGraph &graph,
                                         llvm::ArrayRef<EdgeCount> counts, bool all);

// Where the frame is complete: what stands behind a branch would be no part of it.
llvm::Instruction &firstBehindAllocas(llvm::Function &function);

} // namespace msleaks::passes
