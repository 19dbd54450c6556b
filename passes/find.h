// Finds the calls of a module that the tables describe. It changes nothing.
#pragma once

#include "known_symbols.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallBase;
class Module;
class Value;
} // namespace llvm

namespace msleaks::passes {

struct FoundCall {
  llvm::CallBase *call;
  const abi::Symbol *symbol;
};

// Whether code for this target runs on a host that has a runtime. The device half of a CUDA or HIP compile has none.
bool targetIsSupported(const llvm::Module &module);

// The calls in `function` that are to be instrumented, in the order of the code.
llvm::SmallVector<FoundCall> findCalls(llvm::Function &function, const KnownSymbols &symbols);

// The row of the callee, or null, and the reason why such a call is not instrumented, or null.
const abi::Symbol *knownCallee(const llvm::CallBase &call, const KnownSymbols &symbols);
const char *callObstacle(const llvm::CallBase &call, const abi::Symbol &symbol);

// The functions whose calls may be instrumented.
class Eligibility {
public:
  Eligibility(const llvm::Module &module, const KnownSymbols &symbols);
  // Why nothing in the function is instrumented, or null.
  const char *obstacle(const llvm::Function &function) const;

private:
  const KnownSymbols &symbols_;
  llvm::SmallPtrSet<const llvm::Function *, 4> resolvers_;
};
void forEachEligible(llvm::Module &module, const KnownSymbols &symbols,
                     llvm::function_ref<void(llvm::Function &)> visit);

// The operand at a position, or null when the row has no such position or the call no such operand.
llvm::Value *operandAt(const llvm::CallBase &call, abi::Position position);

} // namespace msleaks::passes
