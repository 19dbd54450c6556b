// Finds the remaining blocks that are known to be harmless.
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

// The row for these blocks of the site, by the functions on their path. Null: the blocks are a leak.
const struct Suppression *suppressionOf(SiteCatalog &, SiteId, const Remains &);

// Sorts by the user's rules and by the table of suppressions. For each row of the table, counts the blocks of each
// process, over all paths to the innermost call.
SortedRemains withoutHarmless(SiteCatalog &, const Cohorts &, const std::vector<CohortRemains> &,
                              const std::vector<SuppressionRule> &rules);

// A row of the table of harmless blocks (suppressions.def).
struct Suppression {
  const char *library, *function;
  uint64_t smallest, largest, most;
  const char *reason;
};

// The row for blocks whose innermost call is `site`, or null. `functions` are on the path, in the library of that call.
// Only blocks of hooks are ever suppressed, because a site of the pass is in the user's own code.
const Suppression *suppressionOf(const Site &site, std::span<const std::string_view> functions, const Remains &);
// Whether the row allows a process to keep this many blocks.
bool keepsNoMore(const Suppression &, const Remains &);

} // namespace msleaks::analysis::inline findings
