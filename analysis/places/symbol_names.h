// The names of symbols, in the tables of an ELF file. A large library has 80 MB of names, and only few are asked for.
// So the names of a large table stay in the file.
#pragma once

#include "analysis/base/files.h"
#include "analysis/places/elf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline places {

class SymbolNames {
public:
  // The places of a table's names. The place of a name is `begin` plus its offset in the table.
  struct Places {
    uint32_t begin, bytes;
  };
  // Adds the table in this section. Returns nothing if the file does not contain the whole table.
  std::optional<Places> add(const ElfFile &, size_t section);

  // The name at this place, or empty if it cannot be read. The view is valid while this object exists.
  std::string_view at(uint32_t place) const;

private:
  struct Table : Places {
    std::string names;   // of a small table
    FileDescriptor file; // of a large table
    uint64_t offset;     // in the file
  };
  static std::string read(const Table &, uint32_t offset);

  std::vector<Table> tables_; // by begin
  mutable std::unordered_map<uint32_t, std::string> read_;
};

} // namespace msleaks::analysis::inline places
