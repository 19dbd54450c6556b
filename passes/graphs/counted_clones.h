// Makes copies of a device module's functions, for counting. The program's own kernels do not change here
// (count_in_kernel.h changes them later).
//
//   define spir_kernel void @work(ptr addrspace(1) %a) { … call @step(…) … }
// →
//   define spir_kernel void @work(ptr addrspace(1) %a) { … call @step(…) … }                          ; unchanged
//   define spir_kernel void @__msl_counted_work(ptr addrspace(1) %a, ptr addrspace(1) %counts) {
//     … call @__msl_counted_step(…, ptr addrspace(1) %bank, i1 (the thread counts)) … }
//   define internal void @__msl_counted_step(…, ptr addrspace(1) %bank, i1 %is_counted)
#pragma once

#include "graphs/device_target.h"

#include "llvm/ADT/SetVector.h"

namespace msleaks::passes {

// The counters of a thread, and whether the thread counts.
struct Bank {
  llvm::Value *address;
  llvm::Value *is_counted; // separate from `address`: SPIR-V before 1.4 cannot compare pointers
  // Only for a kernel: whether any thread of the thread block counts, and the number (32 bits) of the first thread that
  // counts.
  llvm::Value *block_counts;
  llvm::Value *first;
};

struct CountedClone {
  llvm::Function *original;
  llvm::Function *clone;
  bool is_kernel;
  unsigned caller;                // 1 + number of the only kernel that calls `original`; 0: several call it, or none
  llvm::Argument &counts() const; // only for a kernel: the address of abi::DeviceCounts
  Bank bank() const;              // only for a function that is no kernel
};

// Copies the kernels and all functions of this module that they call, directly or through other functions. Calls
// through pointers are not followed. The copies call the originals until callClones changes these calls. With
// `in_kernel` (count_in_kernel.h), the copy of a kernel uses the kernel's debug information.
llvm::SmallVector<CountedClone> cloneCounted(llvm::Module &module, const DeviceTarget &target, bool in_kernel,
                                             llvm::function_ref<bool(const llvm::Function &)> can_be_counted);

// Whether `caller` calls a function that has a copy.
bool callsAny(llvm::Function &caller, llvm::ArrayRef<CountedClone> clones);
// Replaces each call of a function that has a copy by a call of this copy, and passes the caller's bank.
void callClones(llvm::Function &caller, const Bank &bank, llvm::ArrayRef<CountedClone> clones);

} // namespace msleaks::passes
