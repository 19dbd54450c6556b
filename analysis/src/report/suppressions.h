// Which remains are known to be harmless (suppressions.def).
#pragma once

#include "msleaks/analysis/leaks.h"
#include "msleaks/analysis/site.h"

#include <cstddef>

namespace msleaks::analysis {

// Why these blocks of so many processes are no leak; null when they are one. Only callers of hooks are ever suppressed:
// a site of the pass is in the user's own code.
const char *suppressionOf(const Site &, const SiteRemains &, size_t processes = 1);

} // namespace msleaks::analysis
