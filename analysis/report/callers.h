// Who called the place of a line: what a report shows below it.
#pragma once

#include "analysis/report/report.h"

#include <string>
#include <vector>

namespace msleaks::analysis {

// A path as three callers at most, a line of text each, innermost first: "< src/main.cpp:12:7 in main". Before them,
// ">": a wrapper of the user's own that the place called. None behind main: what calls that one is libc's.
struct CallersText {
  std::vector<std::string> lines;
  uint64_t bytes = 0; // of the paths that show the same
  uint64_t paths = 0;
};

// The paths that three quarters of the bytes took, three at most; most bytes first.
// `columns`: room for a line.
std::vector<CallersText> callersOf(const SiteLine &, size_t columns);

} // namespace msleaks::analysis
