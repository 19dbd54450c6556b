// Who called the place of a line: what a report shows below it.
#pragma once

#include "msleaks/analysis/report.h"

#include <optional>

namespace msleaks::analysis {

struct Callers {
  std::optional<SiteText> wrapper; // of the user's own, that the place called
  std::vector<SiteText> lines;     // innermost first; functions that were inlined are lines of their own
  bool known = true;               // whether the last of `lines` has no caller, or one that only is not shown
};

// At most so many, from the path that most of the blocks have. None behind main: what calls that one is libc's.
Callers callersOf(const SiteLine &, size_t most);

} // namespace msleaks::analysis
