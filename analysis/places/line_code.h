// Finds the code of a source line, from an image's DWARF (libdw): the line's own code, and the code of functions that
// were inlined there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

struct CodeRange {
  uint64_t begin = 0, end = 0; // addresses in the file
  bool operator==(const CodeRange &) const = default;
};

// The ranges are in ascending order, and do not touch each other. `file` is a whole path, or the end of a path after a
// '/'. The result is empty if the image has no code of this line, or no debug information.
std::vector<CodeRange> codeOfLine(const std::filesystem::path &image, std::string_view file, uint32_t line);

} // namespace msleaks::analysis::inline places
