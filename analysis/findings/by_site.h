// Sums of cohorts by site: all threads, processes and devices together.
#pragma once

#include "analysis/live/cohort_sums.h"

#include <vector>

namespace msleaks::analysis {

struct SiteShare {
  SiteId site;
  uint64_t bytes = 0, count = 0;
  bool operator==(const SiteShare &) const = default;
};
struct SiteRemains : Remains { // of one heap
  SiteId site;
};

// Ascending by site.
std::vector<SiteShare> bySite(const std::vector<CohortShare> &, const Cohorts &);
// Ascending by site and heap.
std::vector<SiteRemains> bySite(const std::vector<CohortRemains> &, const Cohorts &);

} // namespace msleaks::analysis
