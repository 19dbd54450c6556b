// Decides whether a called function keeps a block that it is given, so that its caller's caller may find the block.
//
//   define void @keep(ptr %node) {             all.push_back(node):
//     store ptr %node, ptr @all                  the block is stored behind the address of `node`, in memory of `all`
#pragma once

namespace llvm {
class CallBase;
} // namespace llvm

namespace msleaks::passes {

// The kind of an argument: the block, or the address of a variable that holds the block.
enum class Given : bool { Block, Address };

// Only functions of the module are looked into. A function of another module is taken not to keep a block.
bool keepsArgument(const llvm::CallBase &call, unsigned argument, Given given);

} // namespace msleaks::passes
