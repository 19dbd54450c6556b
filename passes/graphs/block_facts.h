// Counts what one execution of a basic block does: its instructions by class, and the bytes that it reads and writes.
#pragma once

#include "msleaks/abi/graph_table.h"

namespace llvm {
class BasicBlock;
} // namespace llvm

namespace msleaks::passes {

void addFacts(const llvm::BasicBlock &block, abi::GraphBlock &row);

} // namespace msleaks::passes
