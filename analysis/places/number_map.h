// Site numbers of a process to sites, at two loads a look-up. Numbers are dense in every honest trace. Pages of high
// ones are searched for, so that a hostile number does not cost the table of all below it.
#pragma once

#include "analysis/places/site.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

class NumberMap {
public:
  SiteId find(uint32_t number) const {
    const uint32_t page = number / kPageSites;
    if (page < low_.size())
      return low_[page] ? (*low_[page])[number % kPageSites] : SiteId{};
    return page < kLowPages ? SiteId{} : findHigh(number);
  }
  // Calls f(number, site) for those that are known.
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

} // namespace msleaks::analysis
