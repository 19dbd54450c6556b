// Site numbers of a process to sites, at two loads a look-up. Numbers are dense in every honest trace; in pages, a
// hostile one cannot make a table larger than a small multiple of itself.
#pragma once

#include "msleaks/analysis/site.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace msleaks::analysis {

class NumberMap {
public:
  SiteId find(uint32_t number) const {
    const uint32_t page = number / kPageSites;
    return page < pages_.size() && pages_[page] ? (*pages_[page])[number % kPageSites] : SiteId{};
  }
  void set(uint32_t number, SiteId site) {
    const uint32_t page = number / kPageSites;
    if (page >= pages_.size())
      pages_.resize(page + 1);
    if (!pages_[page])
      pages_[page] = std::make_unique<Page>();
    (*pages_[page])[number % kPageSites] = site;
  }

private:
  static constexpr uint32_t kPageSites = 1024;
  using Page = std::array<SiteId, kPageSites>;
  std::vector<std::unique_ptr<Page>> pages_;
};

} // namespace msleaks::analysis
