// Where callbacks go: guarded blocks, before a call, behind it and on its way out by an exception.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace msleaks::passes {

// A block that runs only in an armed unit, in front of `place`:
//
//     …                          %base = load atomic i32, ptr @__msl_unit monotonic
//     place            →         br (%base != 0), record, rest            ; unlikely
//                      record:   %site = add i32 %base, row
//                                <builder inserts here>
//                                br rest
//                      rest:     place
class Guard {
public:
  Guard(llvm::GlobalVariable &unit, llvm::Instruction &place, uint32_t row, const llvm::DebugLoc &location);
  llvm::IRBuilder<> &builder() { return builder_; }
  llvm::Value *site() const { return site_; }

private:
  llvm::IRBuilder<> builder_;
  llvm::Value *site_;
};

// The instruction that runs after `call` returned, and after nothing else: the edge of an invoke is split if needed.
llvm::Instruction &placeAfter(llvm::CallBase &call);

// Where an exception out of `call`, and out of no other, arrives; null when the function does not catch it.
llvm::Instruction *placeOnUnwind(llvm::CallBase &call);

} // namespace msleaks::passes
