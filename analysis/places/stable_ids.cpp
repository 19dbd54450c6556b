#include "analysis/places/stable_ids.h"

#include <xxhash.h>

namespace msleaks::analysis {

uint64_t StableIds::of(SiteId site) {
  const uint32_t node = catalog_.innermostNodeOf(site);
  return SiteCatalog::isNode(node) ? ofNode(node) : catalog_.stableIdOf(site);
}

// From the outermost call inwards: paths share their outer calls.
uint64_t StableIds::ofNode(uint32_t node) {
  of_node_.resize(catalog_.pathNodeCount());
  std::vector<uint32_t> unknown;
  for (; SiteCatalog::isNode(node) && of_node_[node] == 0; node = catalog_.pathNode(node).outer)
    unknown.push_back(node);
  uint64_t id = SiteCatalog::isNode(node) ? of_node_[node] : node;
  for (; !unknown.empty(); unknown.pop_back()) {
    const uint64_t key[] = {catalog_.stableIdOf(catalog_.pathNode(unknown.back()).call), id};
    id = of_node_[unknown.back()] = XXH3_64bits(key, sizeof key) | 1;
  }
  return id;
}

} // namespace msleaks::analysis
