// Which of the blocks that were left are known to be harmless.
#pragma once

#include "analysis/findings/by_site.h"
#include "analysis/findings/rules.h"
#include "analysis/places/site_catalog.h"

#include <map>
#include <string>
#include <vector>

namespace msleaks::analysis {

struct SortedRemains {
  std::vector<SiteRemains> leaks;
  std::map<std::string, std::vector<SiteRemains>> harmless; // by reason
};

// By the user's rules and the table of suppressions. How many blocks a process keeps is counted over all paths to the
// innermost call.
SortedRemains withoutHarmless(SiteCatalog &, const std::vector<SiteRemains> &, size_t processes,
                              const std::vector<SuppressionRule> &rules);

} // namespace msleaks::analysis
