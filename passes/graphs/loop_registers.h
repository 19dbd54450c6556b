// Counters in registers inside of loops. Their updates neither read nor write memory, so the loop can still be
// vectorised.
//
//   loop:                        →     entry:  store 0 in %register
//     counters[k] += 1                 loop:   %register += 1
//     br loop, end                     end:    counters[k] += %register
//
// A loop that a call may leave without passing its exits has none: the counts in registers would be lost.
#pragma once

#include "graphs/edge_graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace msleaks::passes {

struct CounterPlace {
  llvm::Instruction *before; // the counter counts in front of it
  uint32_t counter;          // of the function, from 0
};

struct CountedAmount {
  uint32_t counter;
  llvm::Value *amount; // 64 bits
};
// Puts the code in front of an instruction that adds these amounts to their counters. It may make blocks.
using AddCounts = llvm::function_ref<void(llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts)>;

// Inserts the code that counts. `most` limits the counters in registers at once, in an outer loop; 0: none in any loop.
void countAt(llvm::Function &function, llvm::ArrayRef<CounterPlace> places, Calls calls, unsigned most, AddCounts add);

} // namespace msleaks::passes
