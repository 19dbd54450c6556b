#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// "/src/x.c" -> "x.c".
inline std::string_view baseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "/opt/libcudart-d0da41ae.so.11.0" -> "libcudart". The file name of a library contains its version, and packages of
// Python add a hash.
inline std::string_view libraryName(std::string_view path) {
  constexpr size_t kHashDigits = 8;
  std::string_view name = baseName(path);
  name = name.substr(0, name.find(".so"));
  const size_t dash = name.rfind('-');
  const bool has_hash = dash != std::string_view::npos && name.size() - dash - 1 == kHashDigits &&
                        name.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
  return has_hash ? name.substr(0, dash) : name;
}

// Removes spaces, tabs and ends of lines at both ends of the text.
std::string_view trimmed(std::string_view);

// Numbers as people read them.
std::string bytesText(uint64_t bytes);                  // "512 B", "1.50 KiB", "12.3 MiB", "1.25 GiB"
std::string durationText(uint64_t time_ns);             // "350 ns", "12.3 ms", "4.20 s", "3 min 5 s"
std::string countText(uint64_t count);                  // "1,234,567"
std::string shortCountText(uint64_t count);             // the same up to six digits, then "1.23M", "4.5G"
std::string percentText(uint64_t part, uint64_t whole); // "33%", "<1%"; "" if `whole` is 0

// Names as a table shows them.

// Writes control characters, and bytes that are not UTF-8, as \xNN, so that a name cannot control the terminal.
std::string printable(std::string_view);

// The number of columns that a printable string takes: 2 for a wide character, 0 for a combining one.
size_t widthOf(std::string_view);

// Cuts a printable string to `columns` columns. "..." replaces the part that was cut off.
std::string cutEnd(std::string_view, size_t columns);
std::string cutBegin(std::string_view, size_t columns);
std::string cutMiddle(std::string_view, size_t columns);

// "/long/way/a/b" -> ".../a/b": the end of a path. Cuts at a slash if there is one nearby.
std::string shortPath(std::string_view path, size_t columns);

} // namespace msleaks::analysis::inline base
