// Numbers and names as a table shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace msleaks::analysis {

std::string bytesText(uint64_t bytes);                  // "512 B", "1.50 KiB", "12.3 MiB", "1.25 GiB"
std::string durationText(uint64_t time_ns);             // "350 ns", "12.3 ms", "4.20 s", "3 min 5 s"
std::string countText(uint64_t count);                  // "1,234,567"
std::string shortCountText(uint64_t count);             // the same up to six digits, then "1.23M", "4.5G"
std::string percentText(uint64_t part, uint64_t whole); // "33%", "<1%"; nothing of nothing

// Control characters, and bytes that are not UTF-8, as \xNN: a name must not steer the terminal.
std::string printable(std::string_view);

// Columns of a terminal that a printable string takes: a wide character two, a combining one none.
size_t widthOf(std::string_view);

// At most `columns` columns of a printable string, "..." for what was cut off.
std::string cutEnd(std::string_view, size_t columns);
std::string cutBegin(std::string_view, size_t columns);

// "a/b" of "/long/way/a/b": the end of a path, cut at a slash where one is near.
std::string shortPath(std::string_view path, size_t columns);

} // namespace msleaks::analysis
