// Inserts code that counts the edges of kernels, into copies of the kernels (counted_clones.h). With the option
// `in-kernel`, the code is then moved into the kernels (count_in_kernel.h).
#pragma once

#include "graphs/device_target.h"
#include "options.h"

#include "llvm/IR/PassManager.h"

namespace msleaks::passes {

void countKernels(llvm::Module &module, const DeviceTarget &target, const Options &options,
                  llvm::FunctionAnalysisManager &analyses,
                  llvm::function_ref<bool(const llvm::Function &)> can_be_counted);

} // namespace msleaks::passes
