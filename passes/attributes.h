// Attributes that the optimiser found for a function before the function was instrumented, and that no longer hold.
#pragma once

#include "llvm/ADT/SetVector.h"

namespace llvm {
class Function;
} // namespace llvm

namespace msleaks::passes {

// Removes attributes that deny side effects from functions that may now record, and from all that call them in this
// module. A link-time optimiser would believe these attributes, and merge or delete recorded calls.
//
//   define ptr @make(i64) nounwind memory(inaccessiblemem: readwrite) willreturn   →   define ptr @make(i64) nounwind
void dropUntrueAttributes(llvm::SetVector<llvm::Function *> recording);

} // namespace msleaks::passes
