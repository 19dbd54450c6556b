// How code on a device counts (abi/device_counts.h).
//
//   %bank = …                          ; at the kernel's begin: the bank of the block,
//   %is_counted = …                    ; and whether the thread counts, the same for all threads of a wave
//   br %is_counted, add, rest
//   add: atomicrmw add %bank + 8 × k, %amount
#pragma once

#include "graphs/counted_clones.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

class DeviceCounters {
public:
  DeviceCounters(llvm::Module &module, const DeviceTarget &target);

  // The bank of a thread of the kernel, in front of `begin`. `counts`: the kernel's last argument.
  Bank bank(llvm::Value &counts, llvm::Instruction &begin);
  // Counts the threads that come into the kernel, in front of `begin`: the first of a block does for all of them.
  // `counter`: of the module; `bank`: in front of `begin`.
  void addThreads(llvm::Value &counts, const Bank &bank, uint32_t counter, llvm::Instruction &begin) const;
  // The same without a bank, apart from all that stands behind it; of SPIR-V.
  void addThreadsApart(llvm::Value &counts, uint32_t counter, llvm::Instruction &begin);
  // `first`: the number of the function's first counter in the module.
  void add(const Bank &bank, uint32_t first, llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts) const;

  // The same without a branch, for kernels whose threads wait for each other. PoCL repeats what stands behind a barrier
  // in a loop for each way to the end, and takes the ways for ones that all threads of a block go together: with a
  // branch that only some threads take, all of them count or none.
  //
  //   call @__msl_count(%bank + 8 × k, select %is_counted, %amount, 0)      ; not inlined
  void addByCall(const Bank &bank, uint32_t first, llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts);

  // Behind all functions: the constant with the table, and, where it cannot be read otherwise, the kernel that copies
  // it. Gives their name.
  std::string finish(llvm::StringRef table);

private:
  llvm::Value *isFirstThread(llvm::IRBuilder<> &builder) const;
  void addAll(llvm::Value &counts, const Bank &bank, uint32_t counter, llvm::Instruction &before) const;
  llvm::Function &countFunction();
  void defineCopy(llvm::GlobalVariable &table, llvm::StringRef name);

  llvm::Module &module_;
  const DeviceTarget &target_;
  llvm::PointerType *global_;
  llvm::Function *count_ = nullptr; // null: nobody has called it yet
};

} // namespace msleaks::passes
