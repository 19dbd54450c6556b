// The unit of a module: the few bytes by which a runtime arms it, and the image's constructor and destructor.
#pragma once

#include "runtime_decls.h"

#include "llvm/ADT/StringRef.h"

namespace msleaks::passes {

// Makes @__msl_unit, without its table. A module that was linked from others may also have their units.
llvm::GlobalVariable *makeUnit(llvm::Module &module);

// Puts the table into its section, and the unit beside it.
void finishUnit(llvm::GlobalVariable &unit, llvm::StringRef table);

// Makes an image call __msl_arm_v2 and __msl_disarm_v2 once, however many of its modules have these functions.
void addImageFunctions(llvm::Module &module);

} // namespace msleaks::passes
