// Decides whether a function only takes a block for its caller. Such a function returns the block, alone or in a
// struct, and keeps it nowhere else.
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

// The place where a call leaves a block: the call's value, or memory that the call writes.
struct TakenBlock {
  const llvm::CallBase *call;
  const llvm::Value *out = nullptr; // points to where the block is stored; null: the call returns it
};

// Whether the function's result may be a struct with the block in it. A struct with several blocks does not count.
enum class InStruct : bool { No, Yes };

// strcpy and similar functions return a block that they were given.
bool returnsItsFirstOperand(const llvm::Function &callee);

bool isHandedOut(const TakenBlock &block, InStruct in_struct);

} // namespace msleaks::passes
