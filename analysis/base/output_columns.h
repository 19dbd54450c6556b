// How wide a line for people may be.
#pragma once

#include <cstddef>

namespace msleaks::analysis {

// COLUMNS, if it is a number; else the width of the terminal that the descriptor is. Where there is none, nobody's
// window cuts lines: SIZE_MAX.
size_t outputColumns(int descriptor);

} // namespace msleaks::analysis
