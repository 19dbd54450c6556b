// The unit of a module: the few bytes by which a runtime arms it, and the image's constructor and destructor.
#pragma once

#include "runtime_decls.h"

#include "llvm/ADT/StringRef.h"

namespace msleaks::passes {

// @__msl_unit, still without its table. Null when the module has one already: under LTO the pass may run again.
llvm::GlobalVariable *makeUnit(llvm::Module &module);

// Puts the table into its section, the unit beside it, and sees to it that an image calls __msl_arm and __msl_disarm.
void finishUnit(llvm::GlobalVariable &unit, llvm::StringRef table, RuntimeDecls &runtime);

} // namespace msleaks::passes
