// The name and owner of an address of code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// A file as the process had it: one with another build id is not the same program and is not asked.
struct ImageFile {
  std::string path;
  std::vector<std::byte> build_id; // empty = had none
  auto operator<=>(const ImageFile &) const = default;
};

// A place in the source. Empty strings and zeros mean: not known.
struct CodePlace {
  std::string function; // linkage name
  std::string file;
  uint32_t line = 0, column = 0;
  bool operator==(const CodePlace &) const = default;
};

// The function that holds `address` (as in the file, without load bias), preceded by those that were inlined there,
// innermost first.
struct NamedAddress {
  uint64_t address = 0;
  std::vector<CodePlace> places;
  std::string callee; // linkage name of what the call at `address` calls; empty: not known, or nobody asked
};

struct ImageNames {
  ImageFile image;
  std::vector<NamedAddress> addresses;
};

} // namespace msleaks::analysis::inline trace
