// Numbers of sites and paths that are the same in every process and run of the same code.
#pragma once

#include "analysis/places/site_catalog.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis {

class StableIds {
public:
  explicit StableIds(const SiteCatalog &catalog) : catalog_(catalog) {}
  // Of the calls that led there, or of the site alone where they are not known.
  uint64_t of(SiteId);

private:
  uint64_t ofNode(uint32_t node);
  const SiteCatalog &catalog_;
  std::vector<uint64_t> of_node_; // 0 = not asked yet
};

} // namespace msleaks::analysis
