// All paths of a session as one tree: a node is a call, its parent the call around it. Processes that took the same
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
  static constexpr uint32_t kBegin = 0;   // nothing led to the call: its thread began with it
  static constexpr uint32_t kUnknown = 1; // what led to it is not known

  struct Node {
    uint32_t parent;
    SiteId frame;
  };

  // The node of that call within `parent`.
  uint32_t add(uint32_t parent, SiteId frame) {
    makeFindable();
    uint32_t &slot = slotOf(parent, frame);
    if (slot == kEmpty)
      slot = addNew(parent, frame);
    findable_ = nodes_.size();
    return slot;
  }
  // The same where it is known that there is none yet: what one process tells needs no look-up.
  uint32_t addNew(uint32_t parent, SiteId frame) {
    nodes_.push_back({parent, frame});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  // A parent's number is smaller than its child's.
  const Node &operator[](uint32_t number) const { return nodes_[number]; }
  size_t size() const { return nodes_.size(); } // numbers are below it
  static bool isCall(uint32_t number) { return number > kUnknown; }

private:
  static constexpr uint32_t kEmpty = 0;
  static_assert(kEmpty == kBegin); // which is no call, so no slot has its number

  // The one that has its number, or the empty one for it.
  uint32_t &slotOf(uint32_t parent, SiteId frame) {
    const uint32_t key[] = {parent, frame.index};
    size_t at = XXH3_64bits(key, sizeof key) % slots_.size();
    while (slots_[at] != kEmpty && (nodes_[slots_[at]].parent != parent || nodes_[slots_[at]].frame != frame))
      at = (at + 1) % slots_.size();
    return slots_[at];
  }
  // Room for one more, and every node has its slot.
  void makeFindable() {
    if (nodes_.size() * 2 >= slots_.size()) {
      slots_.assign(std::bit_ceil(nodes_.size() * 4), kEmpty);
      findable_ = kUnknown + 1;
    }
    for (; findable_ < nodes_.size(); ++findable_)
      slotOf(nodes_[findable_].parent, nodes_[findable_].frame) = static_cast<uint32_t>(findable_);
  }

  std::vector<Node> nodes_{{kBegin, {}}, {kUnknown, {}}};
  size_t findable_ = kUnknown + 1; // nodes below it have a slot
  // Numbers by parent and frame, at least half of them empty. A program like PyTorch has a million: in a map of the
  // standard library they take as long as all else that a report reads.
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024, kEmpty);
};

} // namespace msleaks::analysis::inline places
