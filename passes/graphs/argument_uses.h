// Finds how a kernel may use the memory that its arguments point to. The result is true of every launch.
//
//   define void @work(ptr %in, ptr %out, i32 %n) { … load %in + 4 × (%i & 15) … store %out + 4 × %n … }
// → in: read, bytes 0 to 64 · out: written · n: no address
#pragma once

#include "graphs/device_target.h"

#include "msleaks/abi/graph_table.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"

namespace msleaks::passes {

struct KernelUses {
  llvm::SmallVector<abi::GraphArgument> arguments; // one row for each argument
  // Whether the kernel may use memory to which no argument refers, other than the module's global variables.
  bool others = false;
};

KernelUses usesOf(llvm::Function &kernel, const DeviceTarget &target, llvm::FunctionAnalysisManager &analyses);

// Returns the offset of each argument in the memory that contains all arguments. One more element is the end of the
// last argument.
llvm::SmallVector<uint32_t> argumentOffsets(const llvm::Function &kernel);

// Emits a remark (-Rpass-analysis=msleaks) about the uses of each argument.
void sayUses(const llvm::Function &kernel, const KernelUses &uses);

} // namespace msleaks::passes
