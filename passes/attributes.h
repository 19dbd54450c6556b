// Removes attributes that the optimiser derived before the instrumentation and that are no longer true.
#pragma once

#include "llvm/ADT/SetVector.h"

namespace llvm {
class Function;
} // namespace llvm

namespace msleaks::passes {

// Removes attributes such as `memory` from functions that may now record events, and from all their callers in this
// module. Otherwise a link-time optimiser could merge or delete recorded calls.
//
//   define ptr @make(i64) nounwind memory(inaccessiblemem: readwrite) willreturn   →   define ptr @make(i64) nounwind
void dropUntrueAttributes(llvm::SetVector<llvm::Function *> recording);

} // namespace msleaks::passes
