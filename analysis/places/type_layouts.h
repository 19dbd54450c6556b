// Finds the member of a struct at an offset, from the debug information of one image.
#pragma once

#include "analysis/places/site.h"

#include <cstdint>
#include <elfutils/libdw.h>
#include <string>
#include <string_view>
#include <unordered_map>

namespace msleaks::analysis::inline places {

class TypeLayouts {
public:
  // Reads all types once. `dwarf` must outlive this object.
  explicit TypeLayouts(Dwarf *dwarf);

  // "entries", "list.next" or "slots[3].key": the member that contains the byte, in the innermost struct. Empty if the
  // type is not known, or has no member there. `type` is as in the source: "struct table" or "net::Table". A block may
  // be an array of this type.
  std::string memberAt(std::string_view type, uint64_t offset) const;

private:
  void add(Dwarf_Die holder, const std::string &scope);

  std::unordered_map<std::string, Dwarf_Die> types_; // structs, by their name with scope
  uint64_t left_;                                    // how many more entries may be read
};

// Finds types of blocks that libc returns (libc_types.def).
bool isOfLibc(const Site &call);
// The type of a block that libc's call `innermost` allocated, when the program called `callee`. Empty if not known.
std::string_view libcTypeOf(const Site &innermost, std::string_view callee);

} // namespace msleaks::analysis::inline places
