// Decides which edges of a function get a counter, and finds the instruction in front of which each counter is
// increased.
#pragma once

#include "graphs/edge_graph.h"
#include "graphs/graph_table.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

// Chooses the counter of each edge of the graph. Counters are numbered from `next` on.
llvm::SmallVector<EdgeCount> chooseCounters(const EdgeGraph &graph, bool all, uint32_t &next);

// Returns the places where the counters are increased, and inserts blocks for them. The entry of the function is
// counted at `begin`. A CounterPlace numbers the counters from 0 in each function.
llvm::SmallVector<CounterPlace> placesOf(llvm::Instruction &begin, const EdgeGraph &graph,
                                         llvm::ArrayRef<EdgeCount> counts, bool all);

// Moves the allocas of fixed size to the front, and returns the first instruction behind them. If code with branches is
// inserted there, the allocas stay in the entry block.
llvm::Instruction &firstBehindAllocas(llvm::Function &function);

} // namespace msleaks::passes
