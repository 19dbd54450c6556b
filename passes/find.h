// Finds the calls of known functions in a module. A function is known if a row describes it (known_symbols.h).
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

// Whether a runtime exists for the module's target. No runtime exists for the device code of CUDA and HIP.
bool targetIsSupported(const llvm::Module &module);

// Returns the calls in `function` that must be instrumented, in the order of the instructions.
llvm::SmallVector<FoundCall> findCalls(llvm::Function &function, const KnownSymbols &symbols);

// Returns the row of the callee, or null.
const abi::Symbol *knownCallee(const llvm::CallBase &call, const KnownSymbols &symbols);
// Returns the reason why the call is not instrumented, or null.
const char *callObstacle(const llvm::CallBase &call, const abi::Symbol &symbol);

// Decides in which functions calls may be instrumented.
class Eligibility {
public:
  Eligibility(const llvm::Module &module, const KnownSymbols &symbols);
  // Returns the reason why no call in the function is instrumented, or null.
  const char *obstacle(const llvm::Function &function) const;

private:
  const KnownSymbols &symbols_;
  llvm::SmallPtrSet<const llvm::Function *, 4> resolvers_;
};
void forEachEligible(llvm::Module &module, const KnownSymbols &symbols,
                     llvm::function_ref<void(llvm::Function &)> visit);

// Returns the operand at a position. Returns null if the row has no such position, or the call has no such operand.
llvm::Value *operandAt(const llvm::CallBase &call, abi::Position position);

} // namespace msleaks::passes
