// Owners as a tree: framework@component@… is below framework@component, which is below framework.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/owners.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline live {

class OwnerTree {
public:
  // 0 is the node of blocks without an owner.
  struct NodeId {
    uint32_t index = 0;
    constexpr auto operator<=>(const NodeId &) const = default;
  };

  // Both may grow. They must outlive the tree.
  OwnerTree(const Cohorts &cohorts, SiteCatalog &catalog) : cohorts_(cohorts), catalog_(catalog) {}

  NodeId of(CohortId cohort) {
    uint32_t &number = elementAt(by_cohort_, cohort.index); // the node's number plus 1; 0 = not yet known
    if (number == 0)
      number = ofPath(ownerOf(cohorts_[cohort], catalog_)).index + 1;
    return {number - 1};
  }
  // Calls f for the node and all nodes above it.
  template <class F> void forEachUp(NodeId node, F &&f) const {
    for (;; node = nodes_[node.index].parent) {
      f(node);
      if (nodes_[node.index].parent == NodeId{})
        return;
    }
  }
  size_t size() const { return nodes_.size(); } // includes the node of blocks without an owner
  const std::string &pathOf(NodeId node) const { return nodes_[node.index].path; }
  // Each node before the nodes below it, siblings in alphabetical order, and last the node without an owner.
  std::vector<NodeId> inOrder() const;

private:
  struct Node {
    NodeId parent; // 0 = none
    std::string path;
  };

  NodeId ofPath(std::string_view path);

  const Cohorts &cohorts_;
  SiteCatalog &catalog_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::map<std::string, NodeId, std::less<>> by_path_;
  std::vector<uint32_t> by_cohort_;
};

} // namespace msleaks::analysis::inline live
