// Which of the blocks that were left are known to be harmless.
#pragma once

#include "analysis/findings/rules.h"
#include "analysis/live/cohort_sums.h"
#include "analysis/places/site_catalog.h"

#include <map>
#include <string>
#include <vector>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
