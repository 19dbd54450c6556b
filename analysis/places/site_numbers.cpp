// Maps the numbers that events use for sites to sites, and back.
#include "analysis/places/path_index.h"
#include "analysis/places/process_sites.h"
#include "analysis/places/site_catalog.h"
#include "msleaks/abi/session.h"

#include <utility>

namespace msleaks::analysis::inline places {

SiteId SiteCatalog::find(uint32_t process, uint32_t number) {
  if (number == 0)
    return {};
  if (!last_process_ || last_number_ != process) {
    const auto found = processes_.find(process);
    if (found == processes_.end())
      return {};
    last_process_ = found->second.get();
    last_number_ = process;
  }
  if (number & abi::kCallerSite)
    return last_process_->callers.find(number & ~abi::kCallerSite);
  if (number & abi::kPathSite)
    return findPath(*last_process_, number & ~abi::kPathSite);
  const SiteId own = last_process_->rows.find(number);
  return own.known() || !last_process_->inherits ? own : findInherited(process, number);
}

// Asks the nearest ancestor that defined the number. Stores the result in the process, since each event asks for it.
SiteId SiteCatalog::findInherited(uint32_t process, uint32_t number) {
  SiteId site;
  ancestry_.findAmong(process, [&](uint32_t ancestor) {
    if (const auto known = processes_.find(ancestor); known != processes_.end())
      site = known->second->rows.find(number);
    return site.known();
  });
  if (site.known())
    sitesOf(process).rows.set(number, site);
  return site;
}

SiteId SiteCatalog::findPath(ProcessSites &sites, uint32_t number) {
  if (const SiteId known = sites.path_sites.find(number); known.known())
    return known;
  const uint32_t path = number < sites.paths.size() ? sites.paths[number] : PathIndex::kUnknown;
  if (!PathIndex::isCall(path))
    return {};
  if (path >= path_sites_.size())
    path_sites_.resize(paths_->size());
  SiteId &site = path_sites_[path];
  if (!site.known()) {
    site = SiteId{static_cast<uint32_t>(known_.size())};
    known_.push_back({known_[(*paths_)[path].frame.index].site, path});
  }
  sites.path_sites.set(number, site);
  return site;
}

// All sites that find() has returned are in maps of numbers. Mostly the first maps contain all wanted sites.
std::vector<SiteNumber> SiteCatalog::numbersOf(const std::vector<SiteId> &sites) const {
  std::vector<uint32_t> places(known_.size()); // index in `sites`, plus 1; 0 = not wanted, or found already
  for (uint32_t i = 0; i < sites.size(); ++i)
    places[sites[i].index] = i + 1;
  std::vector<SiteNumber> numbers(sites.size());
  size_t missing = sites.size();
  for (const auto &[process, of] : processes_) {
    const auto lookIn = [&, number = process](const NumberMap &map, uint32_t bit) {
      if (missing != 0)
        map.forEach([&](uint32_t found, SiteId site) {
          if (const uint32_t place = std::exchange(places[site.index], 0); place != 0) {
            numbers[place - 1] = {number, found | bit};
            --missing;
          }
        });
    };
    lookIn(of->rows, 0);
    lookIn(of->callers, abi::kCallerSite);
    lookIn(of->path_sites, abi::kPathSite);
  }
  return missing == 0 ? numbers : std::vector<SiteNumber>();
}

} // namespace msleaks::analysis::inline places
