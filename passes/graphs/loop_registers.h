// Stores counters in registers while a loop runs. Their updates neither read nor write memory, so the loop can still be
// vectorised.
//
//   loop:                        →     entry:  store 0 in %register
//     counters[k] += 1                 loop:   %register += 1
//     br loop, end                     end:    counters[k] += %register
//
// A loop that may be left without passing its exits, by a call, has no counters in registers: their counts would be
// lost.
#pragma once

#include "graphs/edge_graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace msleaks::passes {

struct CounterPlace {
  llvm::Instruction *before; // the counter is increased in front of this instruction
  uint32_t counter;          // number in the function, from 0
};

struct CountedAmount {
  uint32_t counter;
  llvm::Value *amount; // 64 bits
};
// Inserts, in front of an instruction, the code that adds amounts to their counters. May create blocks.
using AddCounts = llvm::function_ref<void(llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts)>;

// Inserts the code that counts. `most` limits how many counters an outermost loop and its inner loops have in
// registers. 0: no counter is in a register.
void countAt(llvm::Function &function, llvm::ArrayRef<CounterPlace> places, Calls calls, unsigned most, AddCounts add);

} // namespace msleaks::passes
