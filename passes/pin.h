// Calls of allocators that the user named (annotation, rows file) are pinned while the optimiser runs.
//
// The optimiser may look into such a function, and find that it ignores the size or does nothing with the block. It may
// then pass poison for the size, or delete the call. That is correct for the program, but it hides the block from us.
// So a pinned call carries its operands once more, in an operand bundle, which no pass looks into. The call stays, is
// not inlined, and the rewrite finds the operands as the source wrote them. The row stands on the function.
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

// Keeps the row of a function, as the source describes the function.
void pinRow(llvm::Function &function, const abi::Symbol &symbol);
std::optional<abi::Symbol> pinnedRow(const llvm::Function &function);

// A call's operands as the source wrote them.
llvm::SmallVector<llvm::Value *, 8> operandsOf(const llvm::CallBase &call);

// Whether the call carries an operand bundle that is not ours.
bool hasForeignBundle(const llvm::CallBase &call);

// Takes the bundles away before the link, and puts their operands into the calls.
void settlePins(llvm::Module &module);

// Removes all bundles again: no bundle may reach the code generator.
void unpin(llvm::Module &module);

} // namespace msleaks::passes
