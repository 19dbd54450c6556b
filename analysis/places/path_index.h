// All paths of a session as one tree. A node is a call, and its parent is the call around it. Processes with the same
// path share its nodes.
#pragma once

#include "analysis/places/site.h"

#include <bit>
#include <cstdint>
#include <vector>
#include <xxhash.h>

namespace msleaks::analysis::inline places {

class PathIndex {
public:
  static constexpr uint32_t kBegin = 0;   // the thread began with this call
  static constexpr uint32_t kUnknown = 1; // the outer calls are not known

  struct Node {
    uint32_t parent;
    SiteId frame;
  };

  // Returns the node of this call within `parent`. Adds the node if it is new.
  uint32_t add(uint32_t parent, SiteId frame) {
    makeFindable();
    uint32_t &slot = slotOf(parent, frame);
    if (slot == kEmpty)
      slot = addNew(parent, frame);
    findable_ = nodes_.size();
    return slot;
  }
  // The same, if the caller knows that the node is new: the nodes of one process differ, so no search is needed.
  uint32_t addNew(uint32_t parent, SiteId frame) {
    nodes_.push_back({parent, frame});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  // The number of a parent is smaller than the numbers of its children.
  const Node &operator[](uint32_t number) const { return nodes_[number]; }
  size_t size() const { return nodes_.size(); } // the numbers of nodes are smaller
  static bool isCall(uint32_t number) { return number > kUnknown; }

private:
  static constexpr uint32_t kEmpty = 0;
  static_assert(kEmpty == kBegin); // no slot contains kBegin, because kBegin is no call

  // Returns the slot of this node, or the empty slot where it belongs.
  uint32_t &slotOf(uint32_t parent, SiteId frame) {
    const uint32_t key[] = {parent, frame.index};
    size_t at = XXH3_64bits(key, sizeof key) % slots_.size();
    while (slots_[at] != kEmpty && (nodes_[slots_[at]].parent != parent || nodes_[slots_[at]].frame != frame))
      at = (at + 1) % slots_.size();
    return slots_[at];
  }
  // Makes room for one more node, and gives each node its slot.
  void makeFindable() {
    if (nodes_.size() * 2 >= slots_.size()) {
      slots_.assign(std::bit_ceil(nodes_.size() * 4), kEmpty);
      findable_ = kUnknown + 1;
    }
    for (; findable_ < nodes_.size(); ++findable_)
      slotOf(nodes_[findable_].parent, nodes_[findable_].frame) = static_cast<uint32_t>(findable_);
  }

  std::vector<Node> nodes_{{kBegin, {}}, {kUnknown, {}}};
  size_t findable_ = kUnknown + 1; // nodes with smaller numbers have a slot
  // A hash table of node numbers by parent and frame; at least half of it is empty. A program like PyTorch has a
  // million nodes. With a map of the standard library, they would take as long as everything else that a report reads.
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024, kEmpty);
};

} // namespace msleaks::analysis::inline places
