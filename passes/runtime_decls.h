// Declares the runtime's callbacks in IR. Names and types come from callbacks.def, through the C prototypes.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace msleaks::passes {

enum class Callback : unsigned {
#define MSL_CALLBACK(name, doc, ...) name,
#include "msleaks/abi/callbacks.def"
};

// Declares a function that the process may lack. Its symbol is weak, and its address is read from the GOT.
llvm::FunctionCallee declareWeak(llvm::Module &module, const char *name, llvm::FunctionType *type);

class RuntimeDecls {
public:
  explicit RuntimeDecls(llvm::Module &module) : module_(module) {}

  // Emits a call of the callback. Arguments are converted to the prototype's types. For example, a CUdeviceptr is an
  // integer, but callbacks take it as a pointer.
  void call(llvm::IRBuilder<> &builder, Callback callback, llvm::ArrayRef<llvm::Value *> arguments);

  // __msl_arm_v2 and __msl_disarm_v2
  llvm::FunctionCallee arm();
  llvm::FunctionCallee disarm();
  // __msl_counters_of and __msl_uncount
  llvm::FunctionCallee countersOf();
  llvm::FunctionCallee uncount();

private:
  llvm::FunctionCallee declare(const char *name, llvm::FunctionType *type);

  llvm::Module &module_;
};

} // namespace msleaks::passes
