// Copies of a device module's functions that count; what the program launches stays as it is.
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

// Where a thread counts, if it does.
struct Bank {
  llvm::Value *address;
  llvm::Value *is_counted; // not a null address: SPIR-V compares pointers since 1.4 only
  // For a kernel: whether any thread of the block counts, and the number of the first one that does, of 32 bits.
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

// Of the kernels, and of the functions of this module that they call by name, themselves or further in. Calls of these
// are not yet those of their copies (callClones). A kernel that another one calls is left as it is there. `in_kernel`:
// copies of kernels have no debug information of their own, and what is in them is described as it is in the kernel.
llvm::SmallVector<CountedClone> cloneCounted(llvm::Module &module, const DeviceTarget &target, bool in_kernel,
                                             llvm::function_ref<bool(const llvm::Function &)> can_be_counted);

// Whether `caller`, a copy, calls a function that has one.
bool callsAny(llvm::Function &caller, llvm::ArrayRef<CountedClone> clones);
// From now on it calls that copy instead, with its own bank.
void callClones(llvm::Function &caller, const Bank &bank, llvm::ArrayRef<CountedClone> clones);

} // namespace msleaks::passes
