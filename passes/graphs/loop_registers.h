// Counters in registers inside of loops: what runs most often neither reads nor writes memory, and keeps no loop from
// being vectorised.
//
//   loop:                        →     entry:  store 0 in %register
//     counters[k] += 1                 loop:   %register += 1
//     br loop, end                     end:    counters[k] += %register
//
// Not in a loop that a call might leave without coming by its end: what is in registers would be lost.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace msleaks::passes {

struct CounterPlace {
  llvm::Instruction *before; // the counter counts in front of it
  uint32_t counter;          // of the function, from 0
};

// Puts in the code that counts. `counters`: the address of the function's counters, numbers of 64 bits.
void countAt(llvm::Function &function, llvm::ArrayRef<CounterPlace> places, llvm::Value *counters);

} // namespace msleaks::passes
