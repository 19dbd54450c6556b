// Answers a question about each path, such as its owner. The answer for a path follows from the path's innermost call
// and the answer for the other calls.
#pragma once

#include "analysis/places/site_catalog.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline places {

// An answer is a number. `none` is the answer for the path without calls.
class PathAnswers {
public:
  PathAnswers(const SiteCatalog &catalog, uint32_t none) : catalog_(catalog), none_(none) {}

  // Returns the answer for the path to a node. Calls answer = inside(answer of the outer calls, call), from the
  // outermost call without an answer to this one.
  template <class Inside> uint32_t of(uint32_t node, Inside &&inside) {
    unasked_.clear();
    by_node_.resize(std::max<size_t>(by_node_.size(), catalog_.pathNodeCount()), kNotAsked);
    for (; SiteCatalog::isNode(node) && by_node_[node] == kNotAsked; node = catalog_.pathNode(node).outer)
      unasked_.push_back(node);
    uint32_t answer = SiteCatalog::isNode(node) ? by_node_[node] : none_;
    for (; !unasked_.empty(); unasked_.pop_back())
      by_node_[unasked_.back()] = answer = inside(answer, catalog_.pathNode(unasked_.back()).call);
    return answer;
  }

private:
  static constexpr uint32_t kNotAsked = UINT32_MAX;

  const SiteCatalog &catalog_;
  uint32_t none_;
  std::vector<uint32_t> by_node_, unasked_;
};

} // namespace msleaks::analysis::inline places
