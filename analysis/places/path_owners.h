// The owners that call paths show. A block that PyTorch allocates in a call of an operator belongs to the operator.
#pragma once

#include "analysis/places/site.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

class SiteCatalog;

class PathOwners {
public:
  explicit PathOwners(SiteCatalog &catalog) : catalog_(catalog) {}

  // "pytorch@operator@aten::linear" if the path contains a call of this operator, and "pytorch@backward@AddmmBackward0"
  // if it contains this node of the backward pass. The outermost of them counts: the user's line calls it, and the
  // others run inside it. Empty if the path contains none.
  std::string_view of(SiteId);

private:
  // The owner of a node's blocks: kNotAsked, kNone, or kBackward plus an index in names_. kBackward itself means a part
  // of a backward pass whose node is not known yet.
  using Owner = uint32_t;
  static constexpr Owner kNotAsked = 0, kNone = 1, kBackward = 2;

  Owner ofNode(uint32_t node);
  Owner inside(Owner outer, SiteId call);
  Owner numberOf(std::string name);

  SiteCatalog &catalog_;
  std::vector<Owner> by_node_;
  std::deque<std::string> names_{"pytorch@backward"}; // a deque, so that texts never move
};

} // namespace msleaks::analysis::inline places
