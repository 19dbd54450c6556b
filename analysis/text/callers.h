// Finds the callers that a report shows below the place of a line.
#pragma once

#include "analysis/result/report.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline text {

// The lines of text for a path. The first lines, with ">", are the user's own wrappers that the place calls; the last
// wrapper allocates. At most three lines with "<" follow: the callers, innermost first, as in "< src/main.cpp:12:7 in
// main". Lines of the standard library and of libc's start code are left out.
struct CallersText {
  std::vector<std::string> lines;
  uint64_t weight = 0; // bytes of all paths with these lines; for handles, their number
  uint64_t paths = 0;
  std::string share = {}; // "40% ", if other paths are shown, too; lines begin with it or with as many blanks
};

// Returns the paths that three quarters of the bytes have taken, but at most three. The path with the most bytes is
// first. `columns`: width of a line.
std::vector<CallersText> callersOf(const SiteLine &, size_t columns);

// Returns the callers of the place on this path that a report shows, innermost first.
std::vector<SiteText> callersAlong(const SiteLine &, const PathLine &);

} // namespace msleaks::analysis::inline text
