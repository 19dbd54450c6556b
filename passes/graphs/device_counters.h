// Emits the code that counts on a device (abi/device_counts.h).
//
//   %bank = …                          ; at the kernel's beginning: the bank (the array of counters) of the block,
//   %is_counted = …                    ; and whether this thread counts
//   br %is_counted, add, rest
//   add: atomicrmw add %bank + 8 × k, %amount
#pragma once

#include "graphs/counted_clones.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

class DeviceCounters {
public:
  DeviceCounters(llvm::Module &module, const DeviceTarget &target);

  // Emits, in front of `begin`, the code that finds a thread's bank: the array of counters that the thread uses.
  // `counts` is the kernel's last argument.
  Bank bank(llvm::Value &counts, llvm::Instruction &begin);
  // Emits, in front of `begin`, the code that counts the threads that enter the kernel. The first thread of a thread
  // block adds the number of this block's threads that count. `counter` is the number of the counter in the module.
  void addThreads(llvm::Value &counts, const Bank &bank, uint32_t counter, llvm::Instruction &begin) const;
  // Does the same as addThreads, but finds the bank itself, and emits a barrier behind the counting. For SPIR-V only.
  void addThreadsApart(llvm::Value &counts, uint32_t counter, llvm::Instruction &begin);
  // Adds the amounts in front of `before`. `first` is the number of the function's first counter in the module.
  void add(const Bank &bank, uint32_t first, llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts) const;

  // Adds the amounts as add() does, but without a branch, for kernels with barriers. In these kernels, PoCL (OpenCL on
  // a CPU) assumes that all threads of a thread block take the same branch. So with a branch, all threads of the block
  // would count, or none.
  //
  //   call @__msl_count(%bank + 8 × k, select %is_counted, %amount, 0)      ; not inlined
  void addByCall(const Bank &bank, uint32_t first, llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts);

  // Call this after all functions got their counters. Makes the constant with the table, and returns the constant's
  // name. For SPIR-V, also makes a kernel that copies the constant, since the program cannot read it.
  std::string finish(llvm::StringRef table);

private:
  llvm::Value *isFirstThread(llvm::IRBuilder<> &builder) const;
  void addAll(llvm::Value &counts, const Bank &bank, uint32_t counter, llvm::Instruction &before) const;
  llvm::Function &countFunction();
  void defineCopy(llvm::GlobalVariable &table, llvm::StringRef name);

  llvm::Module &module_;
  const DeviceTarget &target_;
  llvm::PointerType *global_;
  llvm::Function *count_ = nullptr; // __msl_count; null: no call was emitted yet
};

} // namespace msleaks::passes
