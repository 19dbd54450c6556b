// Prints the instructions of a block, for people who read a report (option `cfg;ir`). Leaves out debug information and
// other metadata.
#pragma once

#include "llvm/IR/ModuleSlotTracker.h"

#include <string>

namespace llvm {
class BasicBlock;
class Module;
} // namespace llvm

namespace msleaks::passes {

class BlockText {
public:
  explicit BlockText(const llvm::Module &module) : names_(&module, /*ShouldInitializeAllMetadata=*/false) {}

  // Returns the block's label, and a line for each instruction.
  std::string of(const llvm::BasicBlock &block);

private:
  llvm::ModuleSlotTracker names_;
};

} // namespace msleaks::passes
