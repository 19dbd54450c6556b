// Which member of a struct lies at an offset, as the debug information of one image says.
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
  // Looks through all types once. `dwarf` outlives it.
  explicit TypeLayouts(Dwarf *dwarf);

  // "entries", "list.next" or "slots[3].key": the member that holds the byte, of the innermost struct. Empty: no such
  // type, or no member there. `type`: as the source has it, "struct table" or "net::Table"; of a block that is an array
  // of them, the member of one.
  std::string memberAt(std::string_view type, uint64_t offset) const;

private:
  void add(Dwarf_Die holder, const std::string &scope);

  std::unordered_map<std::string, Dwarf_Die> types_; // structs, by name with scope
  uint64_t left_;                                    // entries that are still looked at
};

// Types of the blocks that libc hands out (libc_types.def).
bool isOfLibc(const Site &call);
// What a block is that libc's `innermost` call took, when the program called `callee`; empty: nothing says.
std::string_view libcTypeOf(const Site &innermost, std::string_view callee);

} // namespace msleaks::analysis::inline places
