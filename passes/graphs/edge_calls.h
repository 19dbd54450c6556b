// Counts each edge with a call that is not inlined (option counters=calls). This is slow, and serves for comparison
// with the other counters. Each edge between two blocks gets a new basic block, which is named after the edge
// (edge_places.h).
//
//   edge2_5:  call void @__msl_count_edge(ptr %counters, i32 (edge), i32 (banks), i32 (granularity))
//   →         counters[edge] += granularity
//
// `granularity` is the number of threads that the call counts; it is 0 in a thread that does not count. `counters` is
// the address of the array of counters (the bank) that the thread uses. `banks` is always 1.
#pragma once

#include "graphs/loop_registers.h"

#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace msleaks::passes {

// If `keeps` is true, LLVM stores the names of new basic blocks while this object exists, also in a release build of
// clang.
class BlockNamesKept {
public:
  BlockNamesKept(llvm::LLVMContext &context, bool keeps)
      : context_(context), dropped_(context.shouldDiscardValueNames()) {
    if (keeps)
      context.setDiscardValueNames(false);
  }
  ~BlockNamesKept() { context_.setDiscardValueNames(dropped_); }
  BlockNamesKept(const BlockNamesKept &) = delete;
  BlockNamesKept &operator=(const BlockNamesKept &) = delete;

private:
  llvm::LLVMContext &context_;
  const bool dropped_;
};

class EdgeCalls {
public:
  // Emits the code that adds a 64-bit amount to a counter.
  using Add = llvm::function_ref<void(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount)>;

  // `counters` is the type of the counter's address.
  EdgeCalls(llvm::Module &module, llvm::PointerType *counters, unsigned convention, Add add);

  // Emits a call for each amount, in front of `before`. `first` is the index of the function's first counter in the
  // array `counters`. `is_counted` says whether the thread counts. If it is null, every thread counts.
  void add(llvm::Value &counters, uint32_t first, llvm::Value *is_counted, llvm::Instruction &before,
           llvm::ArrayRef<CountedAmount> amounts) const;

private:
  llvm::Function *callee_;
};

} // namespace msleaks::passes
