// Groups cohorts into rows of places. The first look-up of a site's place is slow, because it reads the debug
// information of the site's image. Later look-ups cost nothing.
#pragma once

#include "analysis/places/place.h"
#include "analysis/places/site_catalog.h"
#include "analysis/watch/frame.h"
#include "analysis/watch/session_sums.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace msleaks::analysis::inline watch {

class PlaceRows {
public:
  explicit PlaceRows(SiteCatalog &catalog) : catalog_(catalog), places_(catalog) {}

  // Returns rows of the physical heaps, or of all heaps if rows are split by heap.
  std::vector<FrameRow> of(std::vector<PlaceSum>, Split, uint64_t naming_ns);

private:
  static constexpr uint32_t kNotNamed = 0;
  void nameSites(const std::vector<PlaceSum> &, uint64_t naming_ns);
  uint32_t placeOf(SiteId site) const { return site.index < by_site_.size() ? by_site_[site.index] : kNotNamed; }

  SiteCatalog &catalog_;
  Places places_;
  std::vector<uint32_t> by_site_; // by site: index of its place in texts_
  std::map<Place::Key, uint32_t> by_key_;
  std::vector<std::shared_ptr<const SiteText>> texts_{nullptr};
};

} // namespace msleaks::analysis::inline watch
