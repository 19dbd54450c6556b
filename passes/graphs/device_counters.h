// How code on a device counts (abi/device_counts.h).
//
//   %bank = …                                   ; at the kernel's begin: the block's bank, and whether the thread
//   counts br %is_counted, add, rest                   ; the same for all threads of a wave add: atomicrmw add %bank +
//   8 × k, %amount
#pragma once

#include "graphs/counted_clones.h"
#include "graphs/loop_registers.h"

namespace msleaks::passes {

class DeviceCounters {
public:
  DeviceCounters(llvm::Module &module, const DeviceTarget &target);

  // The bank of a thread of the kernel, in front of `begin`. `counts`: the kernel's last argument.
  Bank bank(llvm::Value &counts, llvm::Instruction &begin);
  // Counts the threads that come into the kernel, in front of `begin`: one of a block, or of the wave that counts, does
  // for all of them. `counter`: of the module.
  void addThreads(llvm::Value &counts, const Bank &bank, uint32_t counter, llvm::Instruction &begin) const;
  // `first`: the number of the function's first counter in the module.
  void add(const Bank &bank, uint32_t first, llvm::Instruction &before, llvm::ArrayRef<CountedAmount> amounts) const;

  // Behind all functions: the constant with the table, and, where it cannot be read otherwise, the kernel that copies
  // it. Gives their name.
  std::string finish(llvm::StringRef table);

private:
  void defineCopy(llvm::GlobalVariable &table, llvm::StringRef name);

  llvm::Module &module_;
  const DeviceTarget &target_;
  llvm::PointerType *global_;
};

} // namespace msleaks::passes
