// Names objects as the source does: by a variable, and by steps into members and elements.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"

#include <optional>
#include <string>

namespace msleaks::passes {

// A place is `offset` bytes into an object of type `type`. `name` names the object or, if `pointed` is true, a pointer
// to the object.
//
// A struct and its first member have the same address. So a place names the struct until the type of the wanted member
// is known.
struct Place {
  std::string name;
  const llvm::DIType *type;
  bool pointed = false;
  uint64_t offset = 0;
};

// Returns the scalar that begins at the place: "l" + 16 → "l.output", "net" → "net->layers", "table" + 24 → "table[3]".
// Returns nothing if the type has no scalar at this offset. If it has several (a union), returns the only pointer among
// them, or nothing.
std::optional<Place> scalarAt(const Place &place);

// Returns the object of class `type` at the place.
std::optional<Place> objectAt(const Place &place, const llvm::DIType &type);

// Returns the element if the place is an array that the code indexes in steps of `stride` bytes: "layers" → "layers[]".
std::optional<Place> elementAt(const Place &place, uint64_t stride);

// Returns the object that a scalar pointer or reference refers to.
std::optional<Place> pointeeOf(const Place &pointer);

} // namespace msleaks::passes
