// Decides whether a called function stores a block in memory that outlives the calling function. The block is an
// argument of the call. From such memory, other code can free the block later.
//
//   define void @keep(ptr %node) {             all.push_back(node):
//     store ptr %node, ptr @all                  the block is stored behind the address of `node`, in memory of `all`
#pragma once

namespace llvm {
class CallBase;
} // namespace llvm

namespace msleaks::passes {

// The kind of an argument: the block, or the address of a variable that contains the block.
enum class Given : bool { Block, Address };

// Only functions of this module are examined. A function of another module is assumed not to store the block.
bool keepsArgument(const llvm::CallBase &call, unsigned argument, Given given);

} // namespace msleaks::passes
