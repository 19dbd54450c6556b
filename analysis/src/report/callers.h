// Who called the place of a line: what a report shows below it.
#pragma once

#include "msleaks/analysis/report.h"

namespace msleaks::analysis {

// At most so many lines of the source, innermost first, from the path that most of the blocks have; functions that were
// inlined are lines of their own. None behind main: what calls that one is libc's.
std::vector<SiteText> callersOf(const SiteLine &, size_t most);

} // namespace msleaks::analysis
