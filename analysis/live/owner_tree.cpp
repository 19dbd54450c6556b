#include "analysis/live/owner_tree.h"

#include <algorithm>

namespace msleaks::analysis::inline live {

namespace {

// A text may consist only of separators. So after this number of levels, the rest is one component.
constexpr size_t kMostLevels = 16;

// The length of the parent's path; 0 = there is no parent.
size_t parentLength(std::string_view path) {
  size_t at = 0;
  for (size_t level = 1, next = path.find('@'); next != std::string_view::npos && level < kMostLevels; ++level) {
    at = next;
    next = path.find('@', next + 1);
  }
  return at;
}

} // namespace

OwnerTree::NodeId OwnerTree::ofPath(std::string_view path) {
  if (path.empty())
    return {};
  if (const auto known = by_path_.find(path); known != by_path_.end())
    return known->second;
  const NodeId parent = ofPath(path.substr(0, parentLength(path)));
  const NodeId node{static_cast<uint32_t>(nodes_.size())};
  nodes_.push_back({parent, std::string(path)});
  by_path_.emplace(path, node);
  return node;
}

std::vector<OwnerTree::NodeId> OwnerTree::inOrder() const {
  const auto isBefore = [](char a, char b) { // a separator sorts before all other characters
    return (a == '@' ? 0 : static_cast<unsigned char>(a) + 1) < (b == '@' ? 0 : static_cast<unsigned char>(b) + 1);
  };
  std::vector<NodeId> order;
  for (uint32_t index = 1; index < nodes_.size(); ++index)
    order.push_back({index});
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    const std::string &left = pathOf(a), &right = pathOf(b);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(), isBefore);
  });
  order.push_back({});
  return order;
}

} // namespace msleaks::analysis::inline live
