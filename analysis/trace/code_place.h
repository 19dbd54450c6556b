// The name, the source line and the image of a code address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// A file, as the process loaded it. A file with another build id is another program, so its names are not used.
struct ImageFile {
  std::string path;
  std::vector<std::byte> build_id; // empty = it has none
  auto operator<=>(const ImageFile &) const = default;
};

// A place in the source. An empty string or a zero means that the part is not known.
struct CodePlace {
  std::string function; // linkage name
  std::string file;
  uint32_t line = 0, column = 0;
  bool operator==(const CodePlace &) const = default;
};

// The function at `address` (an address in the file, without load bias). If calls were inlined there, `places` lists
// the inlined functions first, innermost first.
struct NamedAddress {
  uint64_t address = 0;
  std::vector<CodePlace> places;
  std::string callee; // linkage name of the function that is called at `address`; empty = not known, or not asked for
};

struct ImageNames {
  ImageFile image;
  std::vector<NamedAddress> addresses;
};

} // namespace msleaks::analysis::inline trace
