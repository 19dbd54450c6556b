// Decides which edges of a function get a counter, and at which instruction each counter is increased.
#pragma once

#include "graphs/edge_graph.h"
#include "graphs/graph_table.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

// Chooses the counter of each edge of the graph. Counters are numbered from `next` on.
llvm::SmallVector<EdgeCount> chooseCounters(const EdgeGraph &graph, bool all, uint32_t &next);

// Returns the places where the counters are increased, and inserts blocks for them. The place of the function's entry
// is `begin`. Here, counters are numbered from 0 in each function.
llvm::SmallVector<CounterPlace> placesOf(llvm::Instruction &begin, const EdgeGraph &graph,
                                         llvm::ArrayRef<EdgeCount> counts, bool all);

// Moves the allocas of fixed size to the front, and returns the first instruction behind them. An alloca behind a
// branch would be outside of the entry block, and so its size would be dynamic.
llvm::Instruction &firstBehindAllocas(llvm::Function &function);

} // namespace msleaks::passes
