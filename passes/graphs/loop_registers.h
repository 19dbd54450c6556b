// Stores counters in registers while a loop runs. Their updates neither read nor write memory, so the loop can still be
// vectorised.
//
//   loop:                        →     entry:  store 0 in %register
//     counters[k] += 1                 loop:   %register += 1
//     br loop, end                     end:    counters[k] += %register
//
// If a call may leave the loop, for example by an exception, the loop has no counters in registers: their counts would
// be lost.
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
// Inserts, in front of an instruction, the code that adds amounts to counters in memory. May create blocks.
using AddCounts = llvm::function_ref<void(llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts)>;

// Inserts the code that counts. A counter stays in a register also while an outer loop runs, if this loop and its inner
// loops have at most `most` counters. If `most` is 0, no counter is in a register.
void countAt(llvm::Function &function, llvm::ArrayRef<CounterPlace> places, Calls calls, unsigned most, AddCounts add);

} // namespace msleaks::passes
