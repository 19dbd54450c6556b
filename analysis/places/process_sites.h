// The sites of one process in a SiteCatalog.
#pragma once

#include "analysis/places/python_code.h"
#include "analysis/places/site.h"
#include "analysis/places/site_catalog.h"

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline places {

// Maps a process' site numbers to sites, with two loads for a look-up. Numbers are dense in undamaged traces. Pages of
// high numbers are in a hash map, so that one wrong number does not need a table of all smaller numbers.
class NumberMap {
public:
  SiteId find(uint32_t number) const {
    const uint32_t page = number / kPageSites;
    if (page < low_.size())
      return low_[page] ? (*low_[page])[number % kPageSites] : SiteId{};
    return page < kLowPages ? SiteId{} : findHigh(number);
  }
  // Calls f(number, site) for each site that is known.
  template <class F> void forEach(F &&f) const {
    for (uint32_t page = 0; page < low_.size(); ++page)
      if (low_[page])
        forEachOf(page, *low_[page], f);
    for (const auto &[page, sites] : high_)
      forEachOf(page, *sites, f);
  }
  void set(uint32_t number, SiteId site) {
    const uint32_t page = number / kPageSites;
    if (page < kLowPages && page >= low_.size())
      low_.resize(page + 1);
    std::unique_ptr<Page> &place = page < kLowPages ? low_[page] : high_[page];
    if (!place)
      place = std::make_unique<Page>();
    (*place)[number % kPageSites] = site;
  }

private:
  static constexpr uint32_t kPageSites = 1024;
  static constexpr uint32_t kLowPages = 4096; // four million sites
  using Page = std::array<SiteId, kPageSites>;

  template <class F> static void forEachOf(uint32_t page, const Page &sites, F &&f) {
    for (uint32_t i = 0; i < kPageSites; ++i)
      if (sites[i].known())
        f(page * kPageSites + i, sites[i]);
  }
  SiteId findHigh(uint32_t number) const {
    const auto found = high_.find(number / kPageSites);
    return found == high_.end() ? SiteId{} : (*found->second)[number % kPageSites];
  }

  std::vector<std::unique_ptr<Page>> low_;
  std::unordered_map<uint32_t, std::unique_ptr<Page>> high_;
};

struct SiteCatalog::Image {
  uint32_t number; // number in SiteCatalog::images_
  uint64_t load_bias;
};

struct SiteCatalog::ProcessSites {
  NumberMap rows; // its own rows, and inherited rows that were asked for
  bool inherits = false;
  NumberMap callers;
  // Results of callerAt, by address: many paths contain the same address.
  std::unordered_map<uint64_t, std::pair<uint32_t, SiteId>> calls; // image and site
  std::vector<uint32_t> paths;                                     // node in paths_, by the process' own number
  NumberMap path_sites;                                            // sites of paths that an event named
  std::unordered_map<uint32_t, Image> images;                      // by the process' own number
  std::set<uint32_t> loaded; // numbers in images_ of `images`, and of images that were unloaded
  PythonCodes python;
  bool has_joins = false; // whether two of its paths may be the same path (SiteCatalog::joinedPath)
  bool reloaded = false;  // whether an image was loaded twice: then two addresses may be the same call
};

} // namespace msleaks::analysis::inline places
