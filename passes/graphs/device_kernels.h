// Adds a constant for each kernel to the device's module. The hooks, which launch the copies of kernels, read these
// constants (abi::DeviceKernel):
//
//   @__msl_kernel_work = weak protected addrspace(1) constant { i32 1, i32 (arguments), i32 (offset), i32 (wave), table
//   }
#pragma once

#include "graphs/counted_clones.h"

namespace msleaks::passes {

// Makes the constant for each kernel of `clones`. `table` is the name of the constant with the module's graphs.
void describeKernels(llvm::Module &module, const DeviceTarget &target, llvm::ArrayRef<CountedClone> clones,
                     llvm::StringRef table);

} // namespace msleaks::passes
