// Decides whether a called function stores its argument, a block, in memory that outlives the calling function. Other
// code can later load the block's address from there, and free the block.
// Two examples, with a global `all`:
//
//   define void @keep(ptr %node) {
//     store ptr %node, ptr @all     the argument is the block's address
//
//   all.push_back(node);            the argument is the address of the variable `node`. push_back loads the block's
//                                   address from there, and stores it in memory of `all`
#pragma once

namespace llvm {
class CallBase;
} // namespace llvm

namespace msleaks::passes {

// The kind of an argument: the block's address, or the address of a variable that contains the block's address.
enum class Given : bool { Block, Address };

// Whether the callee stores the block in memory that outlives the calling function. Only functions of this module are
// examined. A function of another module is assumed not to store the block.
bool keepsArgument(const llvm::CallBase &call, unsigned argument, Given given);

} // namespace msleaks::passes
