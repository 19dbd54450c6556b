// The unit of a module: the few bytes by which a runtime arms it, and the image's constructor and destructor.
#pragma once

#include "runtime_decls.h"

#include "llvm/ADT/StringRef.h"

namespace msleaks::passes {

// @__msl_unit, still without its table. A module that was linked from others may have theirs beside it.
llvm::GlobalVariable *makeUnit(llvm::Module &module);

// Puts the table into its section, and the unit beside it.
void finishUnit(llvm::GlobalVariable &unit, llvm::StringRef table);

// Sees to it that an image calls __msl_arm_v2 and __msl_disarm_v2, once however many of its modules have these
// functions.
void addImageFunctions(llvm::Module &module);

} // namespace msleaks::passes
