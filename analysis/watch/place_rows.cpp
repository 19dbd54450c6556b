#include "analysis/watch/place_rows.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <tuple>

namespace msleaks::analysis::inline watch {
namespace {

uint64_t mostOf(const PlaceSum &sum) { return std::max(sum.now.bytes, sum.at_peak.bytes); }

} // namespace

void PlaceRows::nameSites(const std::vector<PlaceSum> &sums, uint64_t naming_ns) {
  by_site_.resize(std::max(by_site_.size(), catalog_.size()), kNotNamed);
  const uint64_t begin_ns = readMonotonicNs();
  for (const PlaceSum &sum : sums) {
    if (by_site_[sum.site.index] != kNotNamed)
      continue;
    const Place place = places_.of(sum.site);
    const auto [known, fresh] = by_key_.try_emplace(place.keyIn(catalog_), static_cast<uint32_t>(texts_.size()));
    if (fresh)
      texts_.push_back(std::make_shared<SiteText>(textOf(catalog_, place)));
    by_site_[sum.site.index] = known->second;
    if (readMonotonicNs() - begin_ns > naming_ns)
      return;
  }
}

std::vector<FrameRow> PlaceRows::of(std::vector<PlaceSum> sums, Split split, uint64_t naming_ns) {
  if (!split.by_heap)
    std::erase_if(sums, [](const PlaceSum &sum) { return !abi::isPhysical(sum.heap); });
  std::stable_sort(sums.begin(), sums.end(),
                   [](const PlaceSum &left, const PlaceSum &right) { return mostOf(left) > mostOf(right); });
  nameSites(sums, naming_ns);
  std::map<std::tuple<uint32_t, uint32_t, abi::Heap>, FrameRow> rows;
  for (const PlaceSum &sum : sums) {
    const uint32_t place = placeOf(sum.site);
    const uint32_t process = split.by_process ? sum.process : 0;
    const abi::Heap heap = split.by_heap ? sum.heap : abi::Heap::Host;
    FrameRow &row = rows[{place, process, heap}];
    row.site = texts_[place];
    row.process = process;
    row.heap = heap;
    row.now += sum.now;
    row.at_moment += sum.at_moment;
    row.at_peak += sum.at_peak;
  }
  std::vector<FrameRow> list;
  for (auto &[key, row] : rows)
    list.push_back(std::move(row));
  std::stable_sort(list.begin(), list.end(),
                   [](const FrameRow &left, const FrameRow &right) { return left.now.bytes > right.now.bytes; });
  return list;
}

} // namespace msleaks::analysis::inline watch
