// Which remains are known to be harmless (suppressions.def).
#pragma once

#include "msleaks/analysis/leaks.h"
#include "msleaks/analysis/site.h"

namespace msleaks::analysis {

// Why these blocks are no leak; null when they are one. Only callers of hooks are ever suppressed: a site of the pass
// is in the user's own code.
const char *suppressionOf(const Site &, const SiteRemains &);

} // namespace msleaks::analysis
