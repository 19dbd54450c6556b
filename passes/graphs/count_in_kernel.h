// Makes kernels count their own edges. This also counts launches where a hook cannot launch a copy instead, for example
// launches by another kernel. A variable of the device's module contains the address of the counters.
//
//   define ptx_kernel void @work(ptr %a) { BODY }
//   define ptx_kernel void @__msl_counted_work(ptr %a, ptr addrspace(1) %counts) { COUNTING BODY }
// →
//   @__msl_counts_HASH = weak addrspace(1) externally_initialized global ptr addrspace(1) null
//   define ptx_kernel void @work(ptr %a) {
//     %counts = load ptr addrspace(1), ptr addrspace(1) @__msl_counts_HASH
//     br (%counts != null), counting, plain
//   plain:
//     BODY
//   counting:
//     COUNTING BODY
//   }
//   define ptx_kernel void @__msl_in_kernel_work(ptr %a, ptr addrspace(1) %counts) { ret void }
//
// The last kernel is never launched. Its name shows the hooks that the kernel `work` counts its own edges.
#pragma once

#include "graphs/counted_clones.h"

namespace msleaks::passes {

// Moves the counting code of `clones` into the original kernels. The clones must be made with `in_kernel`. `table` is
// the name of the constant with the module's graphs.
void countInKernel(const DeviceTarget &target, llvm::ArrayRef<CountedClone> clones, llvm::StringRef table);

} // namespace msleaks::passes
