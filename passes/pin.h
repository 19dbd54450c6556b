// Pins the calls of allocators that the user named, by an annotation or in a rows file, while the optimiser runs.
//
// The optimiser may find that such an allocator ignores its size operand, and pass poison for the size. It may also
// delete the call. This is correct for the program, but msleaks would not see the block. So a pinned call has its
// operands a second time, in an operand bundle. Because of the bundle, the optimiser neither deletes nor inlines the
// call. The rewrite reads the operands from the bundle.
//
//   call void @put(ptr %pool, ptr %p)   →   call void @put(ptr poison, ptr %p) [ "msleaks"(ptr %pool, ptr %p) ]
#pragma once

#include "known_symbols.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallBase;
class Function;
class Module;
class Value;
} // namespace llvm

namespace msleaks::passes {

// Replaces the call by a pinned call.
void pin(llvm::CallBase &call);

// Stores the row of the function in an attribute of the function.
void pinRow(llvm::Function &function, const abi::Symbol &symbol);
std::optional<abi::Symbol> pinnedRow(const llvm::Function &function);

// Returns a call's operands as the source wrote them.
llvm::SmallVector<llvm::Value *, 8> operandsOf(const llvm::CallBase &call);

// Whether the call has an operand bundle of another tool.
bool hasForeignBundle(const llvm::CallBase &call);

// Removes the bundles before the link. The operands in each bundle replace the arguments of its call.
void settlePins(llvm::Module &module);

// Removes all bundles again: no bundle may reach the code generator.
void unpin(llvm::Module &module);

} // namespace msleaks::passes
