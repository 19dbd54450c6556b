// Reads the annotations of functions: __attribute__((annotate("text"))).
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace msleaks::passes {

void forEachAnnotation(const llvm::Module &module,
                       llvm::function_ref<void(const llvm::Function &function, llvm::StringRef text)> visit);

} // namespace msleaks::passes
