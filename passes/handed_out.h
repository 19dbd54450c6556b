// Whether a function only takes a block for its caller: what it takes is what it returns, alone or in a struct, and it
// keeps it nowhere else.
//
//   %p = call ptr @malloc(i64 %n)          %p = call ptr @malloc(i64 %n)
//   ret ptr %p                             store ptr %p, ptr %local
//                                          %q = load ptr, ptr %local
//                                          ret ptr %q
#pragma once

#include "msleaks/abi/symbols.h"

namespace llvm {
class CallBase;
class Function;
class Value;
} // namespace llvm

namespace msleaks::passes {

// Where a call leaves a block: its value, or memory that it writes.
struct TakenBlock {
  const llvm::CallBase *call;
  const llvm::Value *out = nullptr; // points to where the block is stored; null: the call returns it
};

// Whether the function's result may be a struct with the block in it: not where the struct has several.
enum class InStruct : bool { No, Yes };

// strcpy and its like: a block that they return is one that they were given.
bool returnsItsFirstOperand(const llvm::Function &callee);

bool isHandedOut(const TakenBlock &block, InStruct in_struct);

} // namespace msleaks::passes
