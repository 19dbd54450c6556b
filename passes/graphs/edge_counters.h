// Which edges of a function get a counter, and where in the code they are counted.
#pragma once

#include "graphs/edge_graph.h"
#include "graphs/graph_table.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

// Decides for each edge of the graph. Counters are numbered from `next` on.
llvm::SmallVector<EdgeCount> chooseCounters(const EdgeGraph &graph, bool all, uint32_t &next);

// Makes the places; that of the function's entry is `begin`. Counters are numbered from 0 in the function.
llvm::SmallVector<CounterPlace> placesOf(llvm::Instruction &begin, const EdgeGraph &graph,
                                         llvm::ArrayRef<EdgeCount> counts, bool all);

// The place where the frame is complete. An alloca behind a branch would be no part of the frame.
llvm::Instruction &firstBehindAllocas(llvm::Function &function);

} // namespace msleaks::passes
