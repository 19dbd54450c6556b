// Spells types as the source does, from debug information.
#pragma once

#include "llvm/IR/DebugInfoMetadata.h"

#include <string>

namespace msleaks::passes {

enum class Spelling { C, Cxx }; // C says "struct layer", C++ says "layer"

// Returns an empty text if the type has no name, or is void.
std::string typeName(const llvm::DIType *type, Spelling spelling);

// Returns the type without typedefs and qualifiers. Null means void.
const llvm::DIType *strippedType(const llvm::DIType *type);

uint64_t sizeInBytes(const llvm::DIType &type);

} // namespace msleaks::passes
