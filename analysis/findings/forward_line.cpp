#include "analysis/findings/forward_line.h"

#include <map>

namespace msleaks::analysis::inline findings {

FrameText forwardLineOf(std::span<const CohortShare> shares, const Cohorts &cohorts, Lines &lines) {
  uint64_t all_bytes = 0;
  for (const CohortShare &share : shares)
    all_bytes += share.bytes;
  std::map<Place::Key, uint64_t> bytes;
  for (const CohortShare &share : shares) {
    const SiteId forward = cohorts[share.cohort].forward;
    if (!forward.known())
      continue;
    const Place place = lines.places().of(forward);
    uint64_t &of_line = bytes[place.keyIn(lines.catalog())];
    of_line += share.bytes;
    if (place.own && of_line > all_bytes / 2)
      return textOf(lines.catalog(), place);
  }
  return {};
}

} // namespace msleaks::analysis::inline findings
