// All paths of a session as one tree: a node is a call, its parent the call around it. Processes that took the same
// path share its nodes.
#pragma once

#include "msleaks/analysis/site.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis {

class PathIndex {
public:
  static constexpr uint32_t kBegin = 0;   // nothing led to the call: its thread began with it
  static constexpr uint32_t kUnknown = 1; // what led to it is not known

  struct Node {
    uint32_t parent;
    SiteId frame;
  };

  // The node of that call within `parent`.
  uint32_t add(uint32_t parent, SiteId frame) {
    const auto number = static_cast<uint32_t>(nodes_.size());
    const auto [at, fresh] = numbers_.try_emplace(uint64_t{parent} << 32 | frame.index, number);
    if (fresh)
      nodes_.push_back({parent, frame});
    return at->second;
  }
  // A parent's number is smaller than its child's.
  const Node &operator[](uint32_t number) const { return nodes_[number]; }
  static bool isCall(uint32_t number) { return number > kUnknown; }

private:
  std::vector<Node> nodes_{{kBegin, {}}, {kUnknown, {}}};
  std::unordered_map<uint64_t, uint32_t> numbers_; // by parent and frame
};

} // namespace msleaks::analysis
