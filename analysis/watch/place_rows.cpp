#include "analysis/watch/place_rows.h"

#include "analysis/base/clock.h"
#include "analysis/base/element_at.h"

#include <algorithm>
#include <tuple>

namespace msleaks::analysis {
// Cohorts that ever counted for a row, most bytes first.
std::vector<PlaceRows::Share> PlaceRows::sharesOf(const LiveSums &sums, const Cohorts &cohorts, Split split) {
  std::vector<BlockSum> at_peak(cohorts.size());
  for (const CohortShare &share : sums.peak().by_cohort)
    at_peak[share.cohort.index] = {share.bytes, share.count};
  std::vector<Share> shares;
  for (uint32_t index = 1; index < cohorts.size(); ++index) {
    if (!split.by_heap && !abi::isPhysical(cohorts[{index}].heap))
      continue;
    const Share share{{index}, valueAt(sums.now(), index), valueAt(sums.atMoment(), index), at_peak[index]};
    if (share.now.count != 0 || share.at_moment.count != 0 || share.at_peak.count != 0)
      shares.push_back(share);
  }
  std::sort(shares.begin(), shares.end(), [](const Share &left, const Share &right) {
    return std::max(left.now.bytes, left.at_peak.bytes) > std::max(right.now.bytes, right.at_peak.bytes);
  });
  return shares;
}

void PlaceRows::nameSites(const std::vector<Share> &shares, const Cohorts &cohorts, uint64_t naming_ns) {
  by_site_.resize(std::max(by_site_.size(), catalog_.size()), kNotNamed);
  const uint64_t begin_ns = readMonotonicNs();
  for (const Share &share : shares) {
    const SiteId site = cohorts[share.cohort].site;
    if (by_site_[site.index] != kNotNamed)
      continue;
    const Place place = places_.of(site);
    const auto [known, fresh] = by_key_.try_emplace(place.keyIn(catalog_), static_cast<uint32_t>(texts_.size()));
    if (fresh)
      texts_.push_back(std::make_shared<SiteText>(textOf(catalog_, place)));
    by_site_[site.index] = known->second;
    if (readMonotonicNs() - begin_ns > naming_ns)
      return;
  }
}

std::vector<FrameRow> PlaceRows::of(const LiveSums &sums, const Cohorts &cohorts, Split split, uint64_t naming_ns) {
  const std::vector<Share> shares = sharesOf(sums, cohorts, split);
  nameSites(shares, cohorts, naming_ns);
  std::map<std::tuple<uint32_t, uint32_t, abi::Heap>, FrameRow> rows;
  for (const Share &share : shares) {
    const Cohort &cohort = cohorts[share.cohort];
    const uint32_t place = placeOf(cohort.site);
    const uint32_t process = split.by_process ? cohort.process : 0;
    const abi::Heap heap = split.by_heap ? cohort.heap : abi::Heap::Host;
    FrameRow &row = rows[{place, process, heap}];
    row.site = texts_[place];
    row.process = process;
    row.heap = heap;
    row.now += share.now;
    row.at_moment += share.at_moment;
    row.at_peak += share.at_peak;
  }
  std::vector<FrameRow> list;
  for (auto &[key, row] : rows)
    list.push_back(std::move(row));
  std::stable_sort(list.begin(), list.end(),
                   [](const FrameRow &left, const FrameRow &right) { return left.now.bytes > right.now.bytes; });
  return list;
}

} // namespace msleaks::analysis
