// Spells types as the source does, from debug information.
#pragma once

#include "llvm/IR/DebugInfoMetadata.h"

#include <string>

namespace msleaks::passes {

enum class Spelling { C, Cxx }; // C writes "struct layer", C++ writes "layer"

// Returns the type's name as the source spells it. The name is empty if the type has no name, or is void.
std::string typeName(const llvm::DIType *type, Spelling spelling);

// Returns the type without typedefs and qualifiers. Null means void.
const llvm::DIType *strippedType(const llvm::DIType *type);

uint64_t sizeInBytes(const llvm::DIType &type);

} // namespace msleaks::passes
