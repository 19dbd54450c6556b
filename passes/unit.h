// Makes the unit of a module: a few bytes through which a runtime arms the module, so that its calls are recorded. Also
// makes the image's constructor and destructor.
#pragma once

#include "runtime_decls.h"

#include "llvm/ADT/StringRef.h"

namespace msleaks::passes {

// Makes @__msl_unit, without its table.
llvm::GlobalVariable *makeUnit(llvm::Module &module);

// Makes a constant with the table, and sets the content of the unit, which refers to the table.
void finishUnit(llvm::GlobalVariable &unit, llvm::StringRef table);

// Adds a constructor that calls __msl_arm_v2 and a destructor that calls __msl_disarm_v2. Each runs once in an image,
// even if several of its modules contain it.
void addImageFunctions(llvm::Module &module);

} // namespace msleaks::passes
