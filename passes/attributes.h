// What the optimiser found out about a function before it was instrumented, and what is no longer so.
#pragma once

#include "llvm/ADT/SetVector.h"

namespace llvm {
class Function;
} // namespace llvm

namespace msleaks::passes {

// Takes from functions that may now record, and from all that call them in this module, the attributes which say that
// they do not: a link-time optimiser would believe them, and merge or delete what is recorded.
//
//   define ptr @make(i64) nounwind memory(inaccessiblemem: readwrite) willreturn   →   define ptr @make(i64) nounwind
void dropUntrueAttributes(llvm::SetVector<llvm::Function *> recording);

} // namespace msleaks::passes
