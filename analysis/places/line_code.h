// The code that a line of the source became, from an image's DWARF (libdw): where the compiler put it, and where it
// put what was inlined there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

struct CodeRange {
  uint64_t begin = 0, end = 0; // as in the file
  bool operator==(const CodeRange &) const = default;
};

// Ascending, none touching another. `file`: all of a path, or the end of one from a '/' on. Empty: no code of the image
// is of that line, or nobody says so.
std::vector<CodeRange> codeOfLine(const std::filesystem::path &image, std::string_view file, uint32_t line);

} // namespace msleaks::analysis::inline places
