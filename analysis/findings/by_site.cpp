#include "analysis/findings/by_site.h"

#include <algorithm>
#include <tuple>

namespace msleaks::analysis {

std::vector<SiteShare> bySite(const std::vector<CohortShare> &by_cohort, const Cohorts &cohorts) {
  std::vector<SiteShare> list;
  for (const CohortShare &share : by_cohort)
    list.push_back({cohorts[share.cohort].site, share.bytes, share.count});
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.site < b.site; });
  std::vector<SiteShare> sums;
  for (const SiteShare &share : list) {
    if (sums.empty() || sums.back().site != share.site) {
      sums.push_back(share);
      continue;
    }
    sums.back().bytes += share.bytes;
    sums.back().count += share.count;
  }
  return sums;
}

std::vector<SiteRemains> bySite(const std::vector<CohortRemains> &by_cohort, const Cohorts &cohorts) {
  std::vector<SiteRemains> list;
  for (const CohortRemains &remains : by_cohort)
    list.push_back({remains, cohorts[remains.cohort].site});
  const auto keyOf = [](const SiteRemains &remains) { return std::tie(remains.site, remains.heap); };
  std::sort(list.begin(), list.end(), [&](const auto &a, const auto &b) { return keyOf(a) < keyOf(b); });
  std::vector<SiteRemains> sums;
  for (const SiteRemains &remains : list) {
    if (sums.empty() || keyOf(sums.back()) != keyOf(remains))
      sums.push_back(remains);
    else
      sums.back() += remains;
  }
  return sums;
}

} // namespace msleaks::analysis
