// Whether a function that is called keeps a block that it is given: stores it where its caller's caller may find it.
//
//   define void @keep(ptr %node) {             all.push_back(node):
//     store ptr %node, ptr @all                  the block is stored behind the address of `node`, in memory of `all`
#pragma once

namespace llvm {
class CallBase;
} // namespace llvm

namespace msleaks::passes {

// The kind of an argument: the block, or the address of a variable that holds it.
enum class Given : bool { Block, Address };

// Only functions of the module are looked into. What another module does with a block is not known, and no reason.
bool keepsArgument(const llvm::CallBase &call, unsigned argument, Given given);

} // namespace msleaks::passes
