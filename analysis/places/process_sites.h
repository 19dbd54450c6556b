// The sites of one process in a SiteCatalog.
#pragma once

#include "analysis/places/site_catalog.h"

#include "number_map.h"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis {

struct SiteCatalog::Image {
  uint32_t number; // in images_
  uint64_t load_bias;
};

struct SiteCatalog::ProcessSites {
  NumberMap rows; // its own, and inherited ones that were asked for
  bool inherits = false;
  NumberMap callers;
  // What callerAt said, by address: a path's calls are told again with each path that branches off behind them.
  std::unordered_map<uint64_t, std::pair<uint32_t, SiteId>> calls; // image, site
  std::vector<uint32_t> paths;                                     // in paths_, by the process' own number
  NumberMap path_sites;                                            // of those that an event named
  std::unordered_map<uint32_t, Image> images;                      // by the process' own number
  std::set<uint32_t> loaded; // in images_: those of `images`, and of what they replaced
  bool reloaded = false;     // one was loaded twice: two addresses may be one call
};

} // namespace msleaks::analysis
