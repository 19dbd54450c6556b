// Decides whether a function allocates a block only for its caller. Such a function returns the block, alone or in a
// struct, and stores the block nowhere else.
//
//   %p = call ptr @malloc(i64 %n)          %p = call ptr @malloc(i64 %n)
//   ret ptr %p                             store ptr %p, ptr %local
//                                          %q = load ptr, ptr %local
//                                          ret ptr %q
#pragma once

#include "msleaks/abi/symbol.h"

namespace llvm {
class CallBase;
class Function;
class Value;
} // namespace llvm

namespace msleaks::passes {

// A block that a call allocates. The call returns the block's address, or stores the address in memory.
struct TakenBlock {
  const llvm::CallBase *call;
  const llvm::Value *out = nullptr; // points to the memory that gets the block's address; null: the call returns it
};

// Whether isHandedOut accepts a function that returns the block in a struct. isHandedOut does not check that the struct
// contains no other block.
enum class InStruct : bool { No, Yes };

// Whether the callee returns its first argument, as strcpy does.
bool returnsItsFirstOperand(const llvm::Function &callee);

bool isHandedOut(const TakenBlock &block, InStruct in_struct);

} // namespace msleaks::passes
