// Emits the counters of a host module. Each thread has an array of counters, which it gets from the runtime
// (abi/graph_table.h).
//
//   define void @work() {
//     %scratch = alloca [2 x i64]
//     %known = load ptr, ptr @__msl_counters                              ; thread_local
//     br (%known > 1), body, first                                        ; likely
//   first:                                                                ; 0: not asked yet, 1: refused
//     %asked = %known == null && @__msl_counters_of != null ? call ptr @__msl_first_count() : %known
//   body:
//     %counters = phi [%known + 8 * FIRST], [%asked > 1 ? %asked + 8 * FIRST : %scratch]
//
// FIRST is the number of the function's first counter in the module. Without a runtime, or if the runtime refuses an
// array, the function counts in an array that nobody reads. For many counters this array is global.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
class Value;
} // namespace llvm

namespace msleaks::passes {

class ThreadCounters {
public:
  explicit ThreadCounters(llvm::Module &module);

  // Emits the code that finds the `count` counters of the function. Returns their address, which is valid from `begin`
  // on. `first` is the number of the function's first counter in the module.
  llvm::Value *counters(llvm::Function &function, llvm::Instruction &begin, uint32_t first, uint32_t count);

  // Call this after all functions got their counters. Makes the unit with `count` counters, and its table.
  void finish(uint32_t count, llvm::StringRef table);

private:
  llvm::Value *find(llvm::Instruction &begin, uint32_t first, llvm::Value &scratch);
  llvm::Value *scratch(llvm::Function &function, uint32_t count);
  void defineFirst();
  void defineBegin();
  void defineLast();
  llvm::Function *defineWhereAsked(llvm::StringRef name, llvm::Value &callee, llvm::IRBuilder<> &builder);

  llvm::Module &module_;
  llvm::GlobalVariable *slot_, *unit_;
  llvm::FunctionCallee counters_of_;
  llvm::Function *first_;
};

} // namespace msleaks::passes
