// The callers that a report shows below the place of a line.
#pragma once

#include "analysis/result/report.h"

#include <string>
#include <vector>

namespace msleaks::analysis::inline text {

// A path in lines of text. First, with ">", the wrappers of the user's own that the place called; the last one
// allocates. Then, with "<", three callers at most, innermost first: "< src/main.cpp:12:7 in main". Lines of the
// standard library and of libc's start code are passed over.
struct CallersText {
  std::vector<std::string> lines;
  uint64_t weight = 0; // bytes of the paths that show the same; of handles, their number
  uint64_t paths = 0;
  std::string share = {}; // "40% " where other paths are shown, too: each line begins with it, or with as many blanks
};

// The paths that three quarters of the bytes took, three at most; most bytes first. `columns`: room for a line.
std::vector<CallersText> callersOf(const SiteLine &, size_t columns);

// The callers of the place on this path, innermost first: those that a report shows.
std::vector<SiteText> callersAlong(const SiteLine &, const PathLine &);

} // namespace msleaks::analysis::inline text
