// Names as a table shows them.
#pragma once

#include "analysis/base/number_text.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace msleaks::analysis {

// Control characters, and bytes that are not UTF-8, as \xNN: a name must not steer the terminal.
std::string printable(std::string_view);

// Columns of a terminal that a printable string takes: a wide character two, a combining one none.
size_t widthOf(std::string_view);

// At most `columns` columns of a printable string, "..." for what was cut off.
std::string cutEnd(std::string_view, size_t columns);
std::string cutBegin(std::string_view, size_t columns);
std::string cutMiddle(std::string_view, size_t columns);

// "a/b" of "/long/way/a/b": the end of a path, cut at a slash where one is near.
std::string shortPath(std::string_view path, size_t columns);

} // namespace msleaks::analysis
