// Copies of a device module's functions that count. The program's own kernels stay as they are.
//
//   define spir_kernel void @work(ptr addrspace(1) %a) { … call @step(…) … }
// →
//   define spir_kernel void @work(ptr addrspace(1) %a) { … call @step(…) … }                          ; as it was
//   define spir_kernel void @__msl_counted_work(ptr addrspace(1) %a, ptr addrspace(1) %counts) {
//     … call @__msl_counted_step(…, ptr addrspace(1) %bank, i1 (the thread counts)) … }
//   define internal void @__msl_counted_step(…, ptr addrspace(1) %bank, i1 %is_counted)
#pragma once

#include "graphs/device_target.h"

#include "llvm/ADT/SetVector.h"

namespace msleaks::passes {

// The counters of a thread, if the thread counts.
struct Bank {
  llvm::Value *address;
  llvm::Value *is_counted; // not a null address: SPIR-V compares pointers since 1.4 only
  // For a kernel: whether any thread of the block counts, and the number (32 bits) of the first thread that does.
  llvm::Value *block_counts;
  llvm::Value *first;
};

struct CountedClone {
  llvm::Function *original;
  llvm::Function *clone;
  bool is_kernel;
  unsigned caller;                // 1 + the number of the only kernel from which it is called; 0: there are several
  llvm::Argument &counts() const; // only for a kernel: the address of abi::DeviceCounts
  Bank bank() const;              // of another function
};

// Copies the kernels, and the functions of this module that they call by name, directly or indirectly. The copies do
// not yet call copies (callClones). A call of a kernel by another kernel stays as it is. With `in_kernel`, copies of
// kernels have no debug information of their own: their code keeps that of the kernel.
llvm::SmallVector<CountedClone> cloneCounted(llvm::Module &module, const DeviceTarget &target, bool in_kernel,
                                             llvm::function_ref<bool(const llvm::Function &)> can_be_counted);

// Whether `caller`, a copy, calls a function that has a copy.
bool callsAny(llvm::Function &caller, llvm::ArrayRef<CountedClone> clones);
// Makes `caller` call that copy instead, with the caller's bank.
void callClones(llvm::Function &caller, const Bank &bank, llvm::ArrayRef<CountedClone> clones);

} // namespace msleaks::passes
