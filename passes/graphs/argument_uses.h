// An upper bound of what a kernel does with the memory at its arguments, for any launch.
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
  llvm::SmallVector<abi::GraphArgument> arguments; // a row each
  bool others = false;                             // it may use memory that none of them is the address of
};

KernelUses usesOf(llvm::Function &kernel, const DeviceTarget &target, llvm::FunctionAnalysisManager &analyses);

// The offset of each argument when all lie behind each other in memory; at last, the offset behind all of them.
llvm::SmallVector<uint32_t> argumentOffsets(const llvm::Function &kernel);

// -Rpass-analysis=msleaks
void sayUses(const llvm::Function &kernel, const KernelUses &uses);

} // namespace msleaks::passes
