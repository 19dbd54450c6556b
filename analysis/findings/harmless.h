// Which of the blocks that were left are known to be harmless.
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/places/patterns.h"
#include "analysis/places/site.h"
#include "analysis/places/site_catalog.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline findings {

struct SortedRemains {
  std::vector<CohortRemains> leaks;                           // ascending by cohort
  std::map<std::string, std::vector<CohortRemains>> harmless; // by reason
};

// The row for these blocks of the site, by the functions on their way. Null: they are a leak.
const struct Suppression *suppressionOf(SiteCatalog &, SiteId, const Remains &);

// Sorts by the user's rules and by the table of suppressions. The blocks that a row of the table allows are counted for
// each process, over all paths to the innermost call.
SortedRemains withoutHarmless(SiteCatalog &, const Cohorts &, const std::vector<CohortRemains> &,
                              const std::vector<SuppressionRule> &rules);

// Which remains are known to be harmless (suppressions.def).
struct Suppression {
  const char *library, *function;
  uint64_t smallest, largest, most;
  const char *reason;
};

// The row for blocks of which the innermost call is `site`, on whose way in that library these `functions` were called;
// null: a leak. Only callers of hooks are ever suppressed: a site of the pass is in the user's own code.
const Suppression *suppressionOf(const Site &site, std::span<const std::string_view> functions, const Remains &);
// Whether a process may keep all of these blocks of the row.
bool keepsNoMore(const Suppression &, const Remains &);

} // namespace msleaks::analysis::inline findings
